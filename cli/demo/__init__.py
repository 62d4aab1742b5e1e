"""The demonstration: every promise of the pipeline, shown on the local stack."""
