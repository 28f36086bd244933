"""How many rows a study needs: for an interval of a wanted width, or to show a difference."""
