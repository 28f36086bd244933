"""The release, for those who may not ask the whole package."""

VERSION = "0.1.0"
