from hypothesis import settings

# Laws are to be laws: the same examples everywhere, and no deadline on a shared machine.
settings.register_profile("house", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("house")
