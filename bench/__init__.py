"""What is measured rather than tested: long runs, figures, tables. Results go to `bench/results`.

Runs from a checkout, where functions and library are not installed but lie in their folders.
"""

import sys

from cli import ROOT

for _folder in ("functions", "layers/tidegate/python"):
    sys.path.insert(0, str(ROOT / _folder))
