"""The test harness: cases, skips, isolation, comparison and results.

It drives backends through `exporters.base` only and knows nothing of their insides.
"""
