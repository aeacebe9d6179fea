# SPDX-License-Identifier: Apache-2.0
"""Pictures of a screen, and how well what is written there can be read."""

import collections
import subprocess


def luminance(color):
    """Returns the relative luminance of WCAG 2.1."""
    parts = [value / 255 for value in color]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


class Picture:
    def __init__(self, path):
        data = subprocess.run(["convert", str(path), "-depth", "8", "ppm:-"], capture_output=True, check=True).stdout
        kind, size, most, self.pixels = data.split(b"\n", 3)
        assert (kind, most) == (b"P6", b"255"), (kind, most)
        self.width, self.height = map(int, size.split())

    def colors(self, x, y, width, height):
        """Returns the number of pixels of each color in a part of the picture."""
        counts = collections.Counter()
        for row in range(max(0, y), min(self.height, y + height)):
            begin = 3 * (row * self.width + max(0, x))
            line = self.pixels[begin : begin + 3 * min(width, self.width - x)]
            counts.update(zip(line[::3], line[1::3], line[2::3]))
        return counts

    def ground(self, *box):
        """Returns the color that most of a part has."""
        return self.colors(*box).most_common(1)[0][0]

    def contrast(self, x, y, width, height):
        """Returns the contrast between the ground and what is written on it (WCAG 2.1); 1 where nothing is.

        The edges of letters are mixed with the ground, so the strongest color that more than a few pixels have is theirs.
        """
        counts = self.colors(x, y, width, height)
        ground = self.ground(x, y, width, height)
        return max((ratio(ground, color) for color, count in counts.items() if count >= 4), default=1)
