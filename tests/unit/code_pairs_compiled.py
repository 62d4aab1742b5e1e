"""Pairs of texts in Java and Go."""

from __future__ import annotations

from tests.unit.code_pairs import Pair


def _java(same: str, one: str, other: str) -> Pair:
    return Pair("java", same, f"class A {{ {one} }}", f"class A {{ {other} }}")  # type: ignore[arg-type]


def _go(same: str, one: str, other: str) -> Pair:
    return Pair("go", same, f"package m\n{one}\n", f"package m\n{other}\n")  # type: ignore[arg-type]


_BASE = "int f(int a, int b) { return a - b; }"

JAVA = [
    _java("code", _BASE, "int f( int a,int b )\n  {\n\n return a-b; }"),
    _java("code", "List<List<A>> x;", "List< List<A> > x ;"),
    _java("code", "@A(b=1) int x;", "@A( b = 1 )\n int x;"),
    _java("comments", _BASE, "/** Less. */ int f(int a, int b) { return a - b; // less\n }"),
    _java("names", _BASE, "int f(int x, int y) { return x - y; }"),
    _java("names", "void f(B b) { for (C c : b) { int d = g(c); h(d); } }",
          "void f(B p) { for (C q : p) { int r = g(q); h(r); } }"),
    _java("names", "D f(B b) { return g(c -> { try (E e = b) { return c; } }); }",
          "D f(B x) { return g(y -> { try (E z = x) { return y; } }); }"),
    _java("nothing", _BASE, "int f(int a, int b) { return b - a; }"),
    _java("nothing", _BASE, "int f(int a, int b) { return a + b; }"),
    _java("nothing", _BASE, "long f(int a, int b) { return a - b; }"),
    _java("nothing", _BASE, "static int f(int a, int b) { return a - b; }"),
    _java("nothing", _BASE, "int g(int a, int b) { return a - b; }"),
    _java("nothing", "int x = 10;", "int x = 0xA;"),
    _java("nothing", "long x = 1;", "long x = 1L;"),
    _java("nothing", 'String x = "//a";', 'String x = "//b";'),
    _java("nothing", 'String x = "a b";', 'String x = "a  b";'),
    _java("nothing", 'String x = """\n  a\n  """;', 'String x = """\n   a\n  """;'),
    _java("nothing", "char x = 'a';", "char x = 'b';"),
    _java("nothing", "List<A> x;", "List<B> x;"),
    _java("nothing", "@A int x;", "@B int x;"),
    _java("nothing", '@A("x") int x;', '@A("y") int x;'),
    _java("nothing", "int x = a >> b;", "int x = a >>> b;"),
    _java("nothing", "void f() { l: for (;;) break l; }", "void f() { m: for (;;) break m; }"),
    _java("nothing", "int a; int f() { return a; }", "int b; int f() { return b; }"),
    _java("nothing", "void f(int a) { this.a = a; }", "void f(int b) { this.b = b; }"),
    _java("nothing", "int f() { int y = x; int x = 2; return y; }",
          "int f() { int y = z; int z = 2; return y; }"),
    _java("nothing", "int f() { { int x = 1; } return x; }",
          "int f() { { int y = 1; } return y; }"),
    _java("nothing", "Object f(int a) { return new B() { int g() { return a; } }; }",
          "Object f(int c) { return new B() { int g() { return c; } }; }"),
    _java("nothing", "void f(@P int a) { g(a); }", "void f(@P int b) { g(b); }"),
    _java("nothing", "void f(int x) { switch (x) { case A: g(); } }",
          "void f(int x) { switch (x) { case B: g(); } }"),
    _java("nothing", "void f() { g(a -> h()); }", "void f() { g(() -> h()); }"),
    _java("nothing", "int x = 1; // NOSONAR", "int x = 1;"),
    _java("nothing", "// \\u000a int y;\nint x;", "int x;"),
]  # fmt: skip

_FUNC = "func f(a, b int) int { return a - b }"

GO = [
    _go("code", _FUNC, "func f(a,b int) int {\n\treturn a-b\n}"),
    _go("code", "func f() { a := 1; b(a) }", "func f() {\n\n\ta := 1\n\tb( a )\n}"),
    _go("code", "func f() { a.b().c() }", "func f() { a.\nb().\nc() }"),
    _go("comments", _FUNC, "// f is less.\nfunc f(a, b int) int { /* so */ return a - b }"),
    _go("names", _FUNC, "func f(x, y int) int { return x - y }"),
    _go("names",
        "func (r *T) f() (n int, err error) { for i, v := range r.x { n += i * v }; return }",
        "func (t *T) f() (k int, e error) { for j, w := range t.x { k += j * w }; return }"),
    _go("names", "func f() { if a, ok := g(); ok { h(func(b int) int { return a + b }) } }",
        "func f() { if c, is := g(); is { h(func(d int) int { return c + d }) } }"),
    _go("nothing", _FUNC, "func f(a, b int) int { return b - a }"),
    _go("nothing", _FUNC, "func f(a, b int64) int { return a - b }"),
    _go("nothing", _FUNC, "func f(a, b int) int { return\na - b }"),
    _go("nothing", "func f() { switch x { case 1: } }", "func f() { switch x\n{ case 1: } }"),
    _go("nothing", "func f() { g(a) }", "func f() { g(a\n) }"),
    _go("nothing", "func f() { x := a - b }", "func f() { x := a /*\n*/ - b }"),
    _go("nothing", "func f() { if x { } }", "func f() { if x\n{ } }"),
    _go("nothing", 'type T struct {\n\ta int `json:"a"`\n}',
        'type T struct {\n\ta int `json:"b"`\n}'),
    _go("nothing", "var x = `a\nb`", "var x = `a\n b`"),
    _go("nothing", 'var x = "//a"', 'var x = "//b"'),
    _go("nothing", "var x = 'a'", "var x = 'b'"),
    _go("nothing", "var x = 10", "var x = 0xa"),
    _go("nothing", "func f() { x := 1 }", "func f() { x = 1 }"),
    _go("nothing", "func f() { L: for { break L } }", "func f() { M: for { break M } }"),
    _go("nothing", "func f() { for { break } }", "func f() { for { continue } }"),
    _go("nothing", "func f[T any](a T) { }", "func f[U any](a T) { }"),
    _go("nothing", "func f() { x := x; g(x) }", "func f() { y := y; g(y) }"),
    _go("nothing", "func f(a int) T { return T{a: a} }", "func f(b int) T { return T{b: b} }"),
    _go("nothing", "func f(a T) { a.b() }", "func f(a T) { a.c() }"),
    _go("nothing", "func f() { { x := 1; g(x) }; h(x) }", "func f() { { y := 1; g(y) }; h(y) }"),
    _go("nothing", 'import "a"', 'import b "a"'),
    _go("nothing", "//go:noinline\nfunc f() { }", "func f() { }"),
    _go("nothing", "// #include <a.h>\nimport \"C\"", "// #include <b.h>\nimport \"C\""),
    _go("nothing", "//export f\nfunc f() { }", "func f() { }"),
    _go("nothing", "func f() { g() //nolint:all\n}", "func f() { g() }"),
    _go("nothing", "func f() { go g() }", "func f() { defer g() }"),
]  # fmt: skip
