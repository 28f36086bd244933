"""The release, for those who may not ask the whole package."""

__version__ = "0.1.0"
