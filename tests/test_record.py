"""Records against the standard dataclasses they stand for."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest
from aoti_lint.analyzer.model import record as ours


@ours.record(frozen=True)
class Point:
    """Where."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ours.field(default=(), compare=False)


@ours.record(frozen=True)
class Named(Point):
    name: str = "n"

    def shout(self) -> str:
        return self.name.upper()


@ours.record
class Bag:
    items: list[int] = ours.field(default_factory=list)
    note: str | None = None


@ours.record(frozen=True, kw_only=True)
class Keyed:
    a: int = 1
    b: int


@ours.record(eq=False)
class Node:
    value: int


@ours.record(frozen=True)
class Checked:
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text.strip())


@ours.record(frozen=True)
class Nothing:
    pass


def twin(cls: type, **options: Any) -> Any:
    """The same fields as a standard dataclass."""
    fields = []
    for name, default in cls.__record_defaults__.items():  # type: ignore[attr-defined]
        plain = dataclasses.field(compare=default.compare)
        if default.factory is not None:
            plain = dataclasses.field(default_factory=default.factory, compare=default.compare)
        elif not isinstance(default.value, object) or repr(default.value).startswith("<object object"):
            pass
        else:
            plain = dataclasses.field(default=default.value, compare=default.compare)
        fields.append((name, Any, plain))
    return dataclasses.make_dataclass(cls.__name__, fields, **options)


def test_records_act_like_dataclasses() -> None:
    theirs = twin(Point, frozen=True, slots=True)
    for args in ((1,), (1, 2), (1, 3), (1, 2, ("t",))):
        a, b = Point(*args), theirs(*args)
        assert repr(a) == repr(b).replace("Types.", "")
        assert [getattr(a, n) for n in a.__match_args__] == [getattr(b, n) for n in b.__match_args__]
        for other in ((1,), (1, 3), (1, 2, ("u",))):
            assert (a == Point(*other)) == (b == theirs(*other))
            assert (hash(a) == hash(Point(*other))) == (hash(b) == hash(theirs(*other)))
    assert Point(1) != theirs(1) and Point(1) != (1, 2, ())
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=2)  # type: ignore[call-arg]


def test_frozen_records_refuse_changes_and_can_be_replaced() -> None:
    p = Point(1)
    with pytest.raises(AttributeError):
        p.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del p.x
    assert ours.replace(p, y=5) == Point(1, 5)
    with pytest.raises(TypeError):
        ours.replace(p, z=1)
    assert not hasattr(p, "__dict__")


def test_records_inherit_fields() -> None:
    n = Named(1, 2, ("t",), "me")
    assert (n.x, n.name, n.shout()) == (1, "me", "ME")
    assert n != Point(1, 2) and isinstance(n, Point)
    match n:
        case Named(x, y, _, name):
            assert (x, y, name) == (1, 2, "me")


def test_what_can_change_has_no_hash_and_its_own_defaults() -> None:
    a, b = Bag(), Bag()
    a.items.append(1)
    assert b.items == [] and a == Bag([1])
    b.note = "changed"
    with pytest.raises(TypeError):
        hash(a)


def test_keywords_identity_and_checks() -> None:
    assert Keyed(b=2) == Keyed(a=1, b=2)
    with pytest.raises(TypeError):
        Keyed(2)  # type: ignore[misc, call-arg]
    assert Node(1) != Node(1) and len({Node(1), Node(1)}) == 2
    assert Checked("  t ").text == "t"
    assert Nothing() == Nothing() and len({Nothing(), Nothing()}) == 1


@pytest.mark.parametrize("value", [Named(1, 2, ("t",), "me"), Bag([1], "n"), Keyed(b=3), Nothing()])
def test_records_travel(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == copy.deepcopy(value) == value
    assert type(pickle.loads(pickle.dumps(value))) is type(value)
