"""Pictures in true colour, written as PNG with nothing but the standard library."""
import math
import struct
import zlib

import font


class Picture:
    """Pixels in true colour; drawing blends edges softly."""

    def __init__(self, width, height, colour):
        self.width, self.height = width, height
        self.pixels = bytearray(bytes(colour) * (width * height))

    def blend(self, x, y, colour, share=1.0):
        if not (0 <= x < self.width and 0 <= y < self.height) or share <= 0:
            return
        at = (y * self.width + x) * 3
        for channel in range(3):
            old = self.pixels[at + channel]
            self.pixels[at + channel] = round(old + (colour[channel] - old) * min(share, 1.0))

    def _cover(self, left, top, right, bottom, colour, distance, opacity=1.0):
        """Paints where `distance` (in pixels, below 0 inside) says so, half way on the edge itself."""
        for y in range(max(0, math.floor(top) - 1), min(self.height, math.ceil(bottom) + 1)):
            for x in range(max(0, math.floor(left) - 1), min(self.width, math.ceil(right) + 1)):
                self.blend(x, y, colour, opacity * (0.5 - distance(x + 0.5, y + 0.5)))

    def line(self, a, b, thickness, colour, opacity=1.0):
        (ax, ay), (bx, by), half = a, b, thickness / 2
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy or 1.0

        def distance(x, y):
            share = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / length))
            return math.hypot(x - ax - share * dx, y - ay - share * dy) - half

        self._cover(min(ax, bx) - half, min(ay, by) - half, max(ax, bx) + half, max(ay, by) + half,
                    colour, distance, opacity)

    def disc(self, centre, radius, colour, opacity=1.0):
        cx, cy = centre
        self._cover(cx - radius, cy - radius, cx + radius, cy + radius, colour,
                    lambda x, y: math.hypot(x - cx, y - cy) - radius, opacity)

    def ring(self, centre, radius, thickness, colour, opacity=1.0):
        cx, cy = centre
        reach = radius + thickness
        self._cover(cx - reach, cy - reach, cx + reach, cy + reach, colour,
                    lambda x, y: abs(math.hypot(x - cx, y - cy) - radius) - thickness / 2, opacity)

    def polygon(self, corners, colour, opacity=1.0):
        """Fills a polygon: by rows of pixels, even-odd."""
        for y in range(max(0, math.floor(min(c[1] for c in corners))),
                       min(self.height, math.ceil(max(c[1] for c in corners)))):
            crossings = []
            for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
                if (ay > y + 0.5) != (by > y + 0.5):
                    crossings.append(ax + (y + 0.5 - ay) / (by - ay) * (bx - ax))
            crossings.sort()
            for left, right in zip(crossings[::2], crossings[1::2]):
                for x in range(math.ceil(left - 0.5), math.ceil(right - 0.5)):
                    self.blend(x, y, colour, opacity)

    def text(self, centre, text, scale, colour):
        left = round(centre[0] - font.text_width(text, scale) / 2)
        top = round(centre[1] - font.HEIGHT * scale / 2)
        for column, row in font.dots(text):
            for y in range(scale):
                for x in range(scale):
                    self.blend(left + column * scale + x, top + row * scale + y, colour)

    def part(self, left, top, width, height):
        """A smaller picture; what lies beyond the edge is left away."""
        width, height = min(width, self.width - left), min(height, self.height - top)
        part = Picture(width, height, (0, 0, 0))
        for y in range(height):
            start = ((top + y) * self.width + left) * 3
            part.pixels[y * width * 3:(y + 1) * width * 3] = self.pixels[start:start + width * 3]
        return part

    def halved(self):
        """The picture at half the size, each pixel the mean of four; at odd edges of two or one."""
        half = Picture((self.width + 1) // 2, (self.height + 1) // 2, (0, 0, 0))
        for y in range(half.height):
            for x in range(half.width):
                xs = [c for c in (2 * x, 2 * x + 1) if c < self.width]
                ys = [c for c in (2 * y, 2 * y + 1) if c < self.height]
                for channel in range(3):
                    total = sum(self.pixels[(b * self.width + a) * 3 + channel] for a in xs for b in ys)
                    half.pixels[(y * half.width + x) * 3 + channel] = round(total / (len(xs) * len(ys)))
        return half

    def png(self):
        """The bytes of the PNG: with a palette if 256 colours are enough."""
        stride = self.width * 3
        colours = sorted({bytes(self.pixels[i:i + 3]) for i in range(0, len(self.pixels), 3)})
        if len(colours) <= 256:
            index = {colour: number for number, colour in enumerate(colours)}
            flat = bytes(index[bytes(self.pixels[i:i + 3])] for i in range(0, len(self.pixels), 3))
            rows = b''.join(b'\0' + flat[y * self.width:(y + 1) * self.width] for y in range(self.height))
            kind, palette = 3, _chunk(b'PLTE', b''.join(colours))
        else:
            rows = b''.join(b'\0' + bytes(self.pixels[y * stride:(y + 1) * stride]) for y in range(self.height))
            kind, palette = 2, b''
        head = struct.pack('>IIBBBBB', self.width, self.height, 8, kind, 0, 0, 0)
        return (b'\x89PNG\r\n\x1a\n' + _chunk(b'IHDR', head) + palette
                + _chunk(b'IDAT', zlib.compress(rows, 9)) + _chunk(b'IEND', b''))


def _chunk(name, content):
    return struct.pack('>I', len(content)) + name + content + struct.pack('>I', zlib.crc32(name + content))
