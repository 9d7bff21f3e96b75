"""Host expressions inside a Triton launcher: grid sizes over the launcher's integer parameters.

``uint32_t grid_0 = ((xnumel + (512 - 1)) / (512));`` becomes an index expression.  Sizes are not negative,
so a division is a floor division.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...symbolic import (
    ONE,
    ZERO,
    Cond,
    Expr,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    sym,
    where,
)
from .values import Unsupported

_TOKEN = re.compile(
    r"\s*(?:(?P<num>0[xX][0-9a-fA-F]+|\d+)[uUlL]*(?![\w.])"
    r"|(?P<name>[A-Za-z_][\w]*(?:(?:::|\.|->)[A-Za-z_]\w*|\[\d+\])*)"
    r"|(?P<op><=|>=|==|!=|&&|\|\||[-+*/%()<>?:,!]))"
)
_CASTS = ("static_cast", "uint32_t", "int64_t", "int32_t", "uint64_t", "size_t", "int", "unsigned")
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


def host_expression(text: str, names: Mapping[str, Expr]) -> Expr:
    """Parse a C++ integer expression.

    ``names`` gives values of variables; other plain names become symbols.  Raises
    :class:`~.values.Unsupported` for anything that is no integer arithmetic.
    """
    parser = _Parser(text, names)
    value = parser.ternary()
    if parser.peek() is not None:
        raise Unsupported(f"host expression {text!r}")
    return _as_expr(value)


def _as_expr(v: Expr | Cond) -> Expr:
    return v if isinstance(v, Expr) else where(v, ONE, ZERO)


def _as_cond(v: Expr | Cond) -> Cond:
    return v if isinstance(v, Cond) else Cond.of("ne", v)


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str, names: Mapping[str, Expr]) -> None:
        self.text, self.names = text, names
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        pos, text = 0, text.strip()
        while pos < len(text):
            m = _TOKEN.match(text, pos)
            if m is None or m.lastgroup is None:
                raise Unsupported(f"host expression {text!r}")
            self.tokens.append((m.lastgroup, m.group(m.lastgroup)))
            pos = m.end()

    def peek(self) -> str | None:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def take(self, *ops: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at] in [("op", o) for o in ops]:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def expect(self, op: str) -> None:
        if self.take(op) is None:
            raise Unsupported(f"host expression {self.text!r}")

    def ternary(self) -> Expr | Cond:
        head = self.disjunction()
        if self.take("?") is None:
            return head
        a = _as_expr(self.ternary())
        self.expect(":")
        return where(_as_cond(head), a, _as_expr(self.ternary()))

    def disjunction(self) -> Expr | Cond:
        left = self.conjunction()
        while self.take("||"):
            left = _as_cond(left) | _as_cond(self.conjunction())
        return left

    def conjunction(self) -> Expr | Cond:
        left = self.comparison()
        while self.take("&&"):
            left = _as_cond(left) & _as_cond(self.comparison())
        return left

    def comparison(self) -> Expr | Cond:
        left = self.sum()
        op = self.take(*_COMPARE)
        return left if op is None else compare(op, _as_expr(left), _as_expr(self.sum()))

    def sum(self) -> Expr | Cond:
        left = self.product()
        while op := self.take("+", "-"):
            right = _as_expr(self.product())
            left = _as_expr(left) + (right if op == "+" else -right)
        return left

    def product(self) -> Expr | Cond:
        left = self.prefix()
        while op := self.take("*", "/", "%"):
            right = _as_expr(self.prefix())
            a = _as_expr(left)
            left = a * right if op == "*" else floordiv(a, right) if op == "/" else mod(a, right)
        return left

    def prefix(self) -> Expr | Cond:
        if self.take("-"):
            return -_as_expr(self.prefix())
        if self.take("!"):
            return ~_as_cond(self.prefix())
        return self.primary()

    def primary(self) -> Expr | Cond:
        if self.take("("):
            if self.peek() in _CASTS:  # a C-style cast
                self.at += 1
                self.expect(")")
                return self.prefix()
            inner = self.ternary()
            self.expect(")")
            return inner
        if self.at >= len(self.tokens):
            raise Unsupported(f"host expression {self.text!r}")
        kind, token = self.tokens[self.at]
        self.at += 1
        if kind == "num":
            return const(int(token, 0) if token[:2] in ("0x", "0X") else int(token))
        if kind != "name":
            raise Unsupported(f"host expression {self.text!r}")
        if token == "static_cast":
            self.expect("<")
            self.at += 1
            self.expect(">")
            return self.primary()
        return self.call(token) if self.take("(") else self.name(token)

    def name(self, token: str) -> Expr:
        if token in self.names:
            return self.names[token]
        if not token.isidentifier():
            raise Unsupported(f"{token} is not known to the text")
        return sym(token)

    def call(self, name: str) -> Expr:
        args = [_as_expr(self.ternary())]
        while self.take(","):
            args.append(_as_expr(self.ternary()))
        self.expect(")")
        if name in _CASTS and len(args) == 1:
            return args[0]
        short = name.rpartition("::")[2]
        if short in ("max", "min"):
            return maximum(*args) if short == "max" else minimum(*args)
        raise Unsupported(f"host function {name}")
