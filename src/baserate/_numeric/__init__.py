"""Mathematics without domain words: nothing in here knows what a classifier is."""
