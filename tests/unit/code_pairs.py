"""Pairs of texts for the tests of code's normalisation, and Python's."""

from __future__ import annotations

from typing import Literal, NamedTuple

Same = Literal["code", "comments", "names", "nothing"]


class Pair(NamedTuple):
    """Two texts, and what makes them one.

    `code`: they differ in layout alone; `comments`: in that and in comments; `names`: in those and
    in names of local variables; `nothing`: they do not mean the same.
    """

    language: str
    same: Same
    one: str
    other: str


_P = "python"
_BASE = "def f(a, b=1):\n    return a - b\n"

PYTHON = [
    Pair(_P, "code", _BASE, "def f( a,b = 1 ):\n\n  return a-b"),
    Pair(_P, "code", _BASE, "def f(a, b=1): return a \\\n    - b\n"),
    Pair(_P, "code", "x = [1,2,\n 3]\n", "x = [ 1, 2, 3 ]\n"),
    Pair(_P, "code", "if a:\n\tb\n\tc\nd\n", "if a:\n  b\n\n  c\nd"),
    Pair(_P, "code", "a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
    Pair(_P, "code", "x = a not in b", "x = a   not  in b"),
    Pair(_P, "code", "def f():\n\n\f\n    pass\n", "def f():\n    pass\n"),
    Pair(_P, "code", "x = 'a' 'b'\n", "x =  'a'    'b'\n"),
    Pair(_P, "comments", _BASE, "# about\ndef f(a, b=1):  # here\n    # and\n    return a - b\n"),
    Pair(_P, "comments", "x = [\n  1,  # one\n  2]\n", "x = [1,\n     2]  # two\n"),
    Pair(_P, "names", _BASE, "def f(x, y=1):\n    # less\n    return x - y\n"),
    Pair(_P, "names", "def f(a):\n  return [b for b in a if b]",
         "def f(q):\n  return [i for i in q if i]"),
    Pair(_P, "names", "f = lambda a, *b: (a, b)\n", "f = lambda c, *d: (c, d)\n"),
    Pair(
        _P,
        "names",
        "def f(p):\n  with open(p) as h:\n    for l in h:\n      yield l\n",
        "def f(path):\n  with open(path) as file:\n    for line in file:\n      yield line\n",
    ),
    Pair(
        _P,
        "names",
        "def f():\n  try:\n    a = g()\n  except E as e:\n    a = h(e)\n  return a\n",
        "def f():\n  try:\n    b = g()\n  except E as x:\n    b = h(x)\n  return b\n",
    ),
    Pair(_P, "nothing", _BASE, "def f(a, b=2):\n    return a - b\n"),
    Pair(_P, "nothing", _BASE, "def f(a, b=1):\n    return b - a\n"),
    Pair(_P, "nothing", _BASE, "def f(a, b=1):\n    return a + b\n"),
    Pair(_P, "nothing", _BASE, "def g(a, b=1):\n    return a - b\n"),
    Pair(_P, "nothing", _BASE, 'def f(a, b=1):\n    "less"\n    return a - b\n'),
    Pair(_P, "nothing", _BASE, "async def f(a, b=1):\n    return a - b\n"),
    Pair(_P, "nothing", _BASE, "def f(a, *, b=1):\n    return a - b\n"),
    Pair(_P, "nothing", "x = '#a'\n", "x = '#b'\n"),
    Pair(_P, "nothing", "x = 'a #b'\n", "x = 'a '#b\n"),
    Pair(_P, "nothing", "x = 'a'\n", "x = 'a '\n"),
    Pair(_P, "nothing", "x = 'a'\n", "x = b'a'\n"),
    Pair(_P, "nothing", "x = 'a'\n", 'x = "a"\n'),
    Pair(_P, "nothing", "x = '''a\n  b'''\n", "x = '''a\n b'''\n"),
    Pair(_P, "nothing", "x = 10\n", "x = 1_0\n"),
    Pair(_P, "nothing", "x = 1\n", "x = 1.0\n"),
    Pair(_P, "nothing", "x = f'{a}'\n", "x = f'{b}'\n"),
    Pair(_P, "nothing", "x = f'{a = }'\n", "x = f'{a=}'\n"),
    Pair(_P, "nothing", "x = f'{a:>3}'\n", "x = f'{a:<3}'\n"),
    Pair(_P, "nothing", "if a:\n    b\n    c\n", "if a:\n    b\nc\n"),
    Pair(_P, "nothing", "for i in a:\n  if i:\n    b\n  else:\n    c",
         "for i in a:\n  if i:\n    b\nelse:\n  c"),
    Pair(_P, "nothing", "def f(a):\n  return a.b\n", "def f(a):\n  return a.c\n"),
    Pair(_P, "nothing", "def f(a):\n  g(b=a)\n", "def f(a):\n  g(c=a)\n"),
    Pair(_P, "nothing", "def f(a):\n  g(a=a)\n", "def f(c):\n  g(c=c)\n"),
    Pair(_P, "nothing", "import a\n", "import b\n"),
    Pair(_P, "nothing", "from a import b\n", "from a import c as b\n"),
    Pair(_P, "nothing", "def f():\n  import a\n  return a\n", "def f():\n  import b\n  return b\n"),
    Pair(_P, "nothing", "def f():\n  global a\n  a = 1\n", "def f():\n  global b\n  b = 1\n"),
    Pair(_P, "nothing", "def f():\n  global a\n  a = 1\n", "def f():\n  a = 1\n"),
    Pair(_P, "nothing", "def f():\n  return a\n", "def f():\n  return b\n"),
    Pair(_P, "nothing", "def f(a=x):\n  x = 1\n", "def f(a=y):\n  y = 1\n"),
    Pair(_P, "nothing", "def f():\n  return [a for a in a]\n",
         "def f():\n  return [b for b in b]\n"),
    Pair(_P, "nothing", "class A:\n  def f(self):\n    b = 1\n    self.b = b\n",
         "class A:\n  def f(self):\n    c = 1\n    self.c = c\n"),
    Pair(_P, "nothing", "class A:\n  a = 1\n", "class A:\n  b = 1\n"),
    Pair(_P, "nothing", "[a for a in x]\n", "[b for b in x]\n"),
    Pair(_P, "nothing", "def f(a):\n  return '{a}'.format(**locals())\n",
         "def f(b):\n  return '{a}'.format(**locals())\n"),
    Pair(_P, "nothing", "def f(a):\n  return eval('a')\n", "def f(b):\n  return eval('a')\n"),
    Pair(_P, "nothing", "def f(a):\n  return f'{a}'\n", "def f(b):\n  return f'{b}'\n"),
    Pair(_P, "nothing", "@fixture\ndef f(a):\n  return a\n", "@fixture\ndef f(b):\n  return b\n"),
    Pair(_P, "nothing", "def f(x):\n  match x:\n    case a: return a\n",
         "def f(x):\n  match x:\n    case b: return b\n"),
    Pair(_P, "nothing", "x = 1  # type: ignore\n", "x = 1\n"),
    Pair(_P, "nothing", "x = 1  # noqa: E501\n", "x = 1  # noqa: E502\n"),
    Pair(_P, "nothing", "# noqa\nx = 1\n", "x = 1  # noqa\n"),
    Pair(_P, "nothing", "#!/usr/bin/python\nx = 1\n", "x = 1\n"),
    Pair(_P, "nothing", "# -*- coding: latin-1 -*-\nx = 1\n", "x = 1\n"),
    # The parser reads these as if they were well; Python does not.
    Pair(_P, "nothing", "x = 1\n", "x =\n1\n"),
    Pair(_P, "nothing", "if a:\n    b\nc\n", "if a:\n        b\n    c\n"),
    Pair(_P, "nothing", "if a:\n    b\n    c\n", "if a:\n    b\n\tc\n"),
    Pair(_P, "nothing", "x = 1\n", "x = 1\\\n"),
    Pair(_P, "nothing", "import a\n", "import\\\n\na\n"),
    Pair(_P, "nothing", "x = 1\n", "\ufeffx = 1\n"),
    Pair(_P, "nothing", "x = 1\n", "x\u00a0= 1\n"),
    Pair(_P, "nothing", "def f():\n    pass\n", "def f():\n"),
]  # fmt: skip
