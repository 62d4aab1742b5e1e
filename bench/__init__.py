"""What is measured rather than tested: long runs, figures, tables. Results go to `bench/results`."""

from cli import ROOT

__all__ = ["ROOT"]
