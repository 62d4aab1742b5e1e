"""Tidegate: a pipeline between partners and slow, expensive, rate-limited AI models."""
