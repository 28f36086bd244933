from hypothesis import settings

# The same examples everywhere, and no deadline on a shared machine. `make test` takes the quick profile and leaves out
# what is marked slow; `make test-all` takes the full one.
settings.register_profile("full", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("quick", parent=settings.get_profile("full"), max_examples=25)
settings.load_profile("quick")
