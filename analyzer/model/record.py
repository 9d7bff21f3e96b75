"""Small classes made from annotations, with the meaning of ``dataclasses``.

The analyzer has more than a hundred of them, and making one with ``dataclasses`` takes about a millisecond:
a good part of the time a check of an ordinary wrapper takes from start to end.  Here one function is compiled
for each class and the rest is shared.  Type checkers see the standard module; instances have slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["field", "record", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field, replace
else:
    from operator import attrgetter

    class _Default:
        __slots__ = ("compare", "factory", "value")

        def __init__(self, value, factory, compare):
            self.value, self.factory, self.compare = value, factory, compare

    _MISSING = object()

    def field(*, default=_MISSING, default_factory=None, compare=True):
        return _Default(default, default_factory, compare)

    def record(cls=None, /, *, frozen=False, eq=True, kw_only=False):
        """Class decorator: ``__init__`` and the rest of a dataclass with slots."""
        if cls is None:
            return lambda c: _made(c, frozen, eq, kw_only)
        return _made(cls, frozen, eq, kw_only)

    def replace(instance, /, **changes):
        """A copy with some fields changed. Raises TypeError for a field that is not there."""
        values = {n: getattr(instance, n) for n in instance.__match_args__}
        return instance.__class__(**(values | changes))

    def _made(cls, frozen, eq, kw_only):
        body = dict(cls.__dict__)
        own = list(cls.__annotations__)
        defaults = dict(getattr(cls, "__record_defaults__", {}))
        for name in own:
            if name in body:
                value = body.pop(name)
                defaults[name] = value if isinstance(value, _Default) else _Default(value, None, True)
            else:
                defaults[name] = _Default(_MISSING, None, True)
        names = tuple(defaults)
        for name in ("__dict__", "__weakref__"):
            body.pop(name, None)
        body.update(
            __slots__=tuple(own),
            __qualname__=cls.__qualname__,
            __match_args__=names,
            __record_defaults__=defaults,
        )
        body.setdefault("__repr__", _repr)
        body["__reduce__"] = _reduce
        if eq:
            equal, hashed = _comparison([n for n in names if defaults[n].compare])
            body.setdefault("__eq__", equal)
            # As in dataclasses, what can change has no hash.
            body["__hash__"] = hashed if frozen else None
        if frozen:
            body["__setattr__"] = body["__delattr__"] = _refuse
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__record_set__ = tuple(getattr(made, n).__set__ for n in names)
        made.__init__ = _initializer(made, defaults, kw_only)
        return made

    def _initializer(cls, defaults, kw_only):
        scope, args, lines = {"_missing": _MISSING}, ["self"], []
        if kw_only:
            args.append("*")
        for (name, default), put in zip(defaults.items(), cls.__record_set__, strict=True):
            scope[f"_set_{name}"] = put
            value = name
            if default.factory is not None:
                scope[f"_make_{name}"] = default.factory
                args.append(f"{name}=_missing")
                value = f"_make_{name}() if {name} is _missing else {name}"
            elif default.value is not _MISSING:
                scope[f"_or_{name}"] = default.value
                args.append(f"{name}=_or_{name}")
            else:
                args.append(name)
            lines.append(f" _set_{name}(self, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        exec(f"def __init__({', '.join(args)}):\n" + ("\n".join(lines) or " pass"), scope)
        made = scope["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    def _comparison(names):
        key = attrgetter(*names) if names else lambda _: ()

        def __eq__(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):
            return hash(key(self))

        return __eq__, __hash__

    def _repr(self):
        return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__match_args__)})"

    def _refuse(self, name, value=None):
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def _reduce(self):
        return _restored, (type(self), tuple(getattr(self, n) for n in self.__match_args__))

    def _restored(cls, values):
        made = object.__new__(cls)
        for put, value in zip(cls.__record_set__, values, strict=True):
            put(made, value)
        return made
