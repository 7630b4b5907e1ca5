"""The tests of topiq; importable as ``tests`` so that helpers have one absolute name."""
