"""Traffic on real servers while something breaks, all of it recorded, and checked afterwards rule by rule."""
