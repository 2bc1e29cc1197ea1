import Foundation

/// The pixels of a screenshot.
///
/// A page of the browser holds and searches them, as it does so a hundred times faster than a debug build of the tests.
struct ScreenPixels {
    /// A colour of the sRGB colour space.
    struct Color: Hashable, Decodable, CustomStringConvertible {
        var red: Int
        var green: Int
        var blue: Int

        var description: String { "rgb(\(red), \(green), \(blue))" }

        /// Returns the largest difference of a component.
        func distance(to other: Color) -> Int {
            max(abs(red - other.red), abs(green - other.green), abs(blue - other.blue))
        }
    }

    /// A connected group of pixels of a colour.
    struct Shape: Equatable, Decodable {
        /// The edges of the smallest rectangle around the pixels; right and bottom lie behind the last pixel.
        var left: Int
        var top: Int
        var right: Int
        var bottom: Int
        /// The number of pixels.
        var count: Int
        /// The mean place of the pixels.
        var x: Double
        var y: Double

        var width: Int { right - left }
        var height: Int { bottom - top }
    }

    private struct Size: Decodable {
        var width: Int
        var height: Int
    }

    /// The size in device pixels.
    let width: Int
    let height: Int
    private let decoder: BrowserPage
    private let name: String

    /// Decodes a PNG image.
    ///
    /// - Parameter decoder: an empty page, in which a canvas decodes the image.
    init(png: Data, decoder: BrowserPage) throws {
        name = UUID().uuidString
        self.decoder = decoder
        let size = try decoder.evaluate(
            """
            (async () => {
                const image = new Image();
                image.src = "data:image/png;base64,\(png.base64EncodedString())";
                await image.decode();
                const { width, height } = image;
                const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
                context.drawImage(image, 0, 0);
                window.screens ??= {};
                window.screens["\(name)"] = context.getImageData(0, 0, width, height);
                return { width, height };
            })()
            """, as: Size.self)
        (width, height) = (size.width, size.height)
    }

    /// Frees the memory of the pixels, which nothing may use afterwards.
    func discard() throws { try decoder.run("delete window.screens['\(name)']") }

    /// The color of a pixel; x and y begin at the top left corner.
    subscript(x: Int, y: Int) -> Color {
        get throws {
            try decoder.evaluate(
                """
                (() => {
                    const { data, width } = window.screens["\(name)"];
                    const [red, green, blue] = data.subarray(4 * (\(y) * width + \(x)));
                    return { red, green, blue };
                })()
                """)
        }
    }

    /// Returns the connected groups of pixels of a colour, the largest first.
    ///
    /// - Parameter tolerance: the largest difference of a component.
    func shapes(of color: Color, tolerance: Int = 8) throws -> [Shape] {
        try decoder.evaluate(
            """
            (() => {
                const { data, width, height } = window.screens["\(name)"];
                const open = new Uint8Array(width * height);
                for (let place = 0; place < open.length; place++) {
                    const distance = Math.max(
                        Math.abs(data[4 * place] - \(color.red)), Math.abs(data[4 * place + 1] - \(color.green)),
                        Math.abs(data[4 * place + 2] - \(color.blue)));
                    open[place] = distance <= \(tolerance) ? 1 : 0;
                }
                const shapes = [];
                for (let start = 0; start < open.length; start++) {
                    if (!open[start]) continue;
                    const shape = { left: width, top: height, right: 0, bottom: 0, count: 0, x: 0, y: 0 };
                    const stack = [start];
                    open[start] = 0;
                    while (stack.length > 0) {
                        const place = stack.pop();
                        const [x, y] = [place % width, Math.floor(place / width)];
                        shape.left = Math.min(shape.left, x);
                        shape.right = Math.max(shape.right, x + 1);
                        shape.top = Math.min(shape.top, y);
                        shape.bottom = Math.max(shape.bottom, y + 1);
                        shape.count++;
                        shape.x += x + 0.5;
                        shape.y += y + 0.5;
                        for (const [nextX, nextY] of [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]) {
                            const next = nextY * width + nextX;
                            if (nextX < 0 || nextX >= width || !open[next]) continue;
                            open[next] = 0;
                            stack.push(next);
                        }
                    }
                    shape.x /= shape.count;
                    shape.y /= shape.count;
                    shapes.push(shape);
                }
                return shapes.sort((a, b) => b.count - a.count);
            })()
            """)
    }
}

extension ScreenPixels.Color {
    /// Creates a colour from the notation `#rrggbb`; nil for another notation.
    init?(hex: String) {
        guard hex.count == 7, hex.hasPrefix("#"), let value = Int(hex.dropFirst(), radix: 16) else { return nil }
        self.init(red: value >> 16, green: value >> 8 & 255, blue: value & 255)
    }
}
