import Foundation

/// The pixels of a screenshot.
struct ScreenPixels: Equatable {
    /// A colour of the sRGB colour space.
    struct Color: Hashable, CustomStringConvertible {
        var red: UInt8
        var green: UInt8
        var blue: UInt8

        var description: String { "rgb(\(red), \(green), \(blue))" }

        /// Returns the largest difference of a component.
        func distance(to other: Color) -> Int {
            max(
                abs(Int(red) - Int(other.red)), abs(Int(green) - Int(other.green)), abs(Int(blue) - Int(other.blue)))
        }
    }

    /// The size in device pixels.
    let width: Int
    let height: Int
    private let bytes: Data

    private struct Decoded: Decodable {
        var width: Int
        var height: Int
        /// Four bytes a pixel.
        var bytes: Data
    }

    /// Decodes a PNG image.
    ///
    /// - Parameter decoder: an empty page, in which a canvas decodes the image.
    init(png: Data, decoder: BrowserPage) throws {
        let decoded = try decoder.evaluate(
            """
            (async () => {
                const image = new Image();
                image.src = "data:image/png;base64,\(png.base64EncodedString())";
                await image.decode();
                const canvas = new OffscreenCanvas(image.width, image.height);
                const context = canvas.getContext("2d");
                context.drawImage(image, 0, 0);
                const bytes = context.getImageData(0, 0, image.width, image.height).data;
                const parts = [];
                for (let start = 0; start < bytes.length; start += 32768) {
                    parts.push(String.fromCharCode(...bytes.subarray(start, start + 32768)));
                }
                return { width: image.width, height: image.height, bytes: btoa(parts.join("")) };
            })()
            """, as: Decoded.self)
        (width, height, bytes) = (decoded.width, decoded.height, decoded.bytes)
    }

    /// The color of a pixel; x and y begin at the top left corner.
    subscript(x: Int, y: Int) -> Color {
        let start = bytes.startIndex + 4 * (y * width + x)
        return Color(red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2])
    }

    /// The colours, and the number of pixels of each.
    var counts: [Color: Int] {
        var counts: [Color: Int] = [:]
        for y in 0..<height { for x in 0..<width { counts[self[x, y], default: 0] += 1 } }
        return counts
    }

    /// A connected group of pixels of a colour.
    struct Shape: Equatable {
        /// The edges of the smallest rectangle around the pixels; right and bottom lie behind the last pixel.
        var left: Int
        var top: Int
        var right: Int
        var bottom: Int
        /// The number of pixels.
        var count = 0
        /// The mean place of the pixels.
        var x = 0.0
        var y = 0.0

        var width: Int { right - left }
        var height: Int { bottom - top }
    }

    /// Returns the connected groups of pixels of a colour, the largest first.
    ///
    /// - Parameter tolerance: the largest difference of a component.
    func shapes(of color: Color, tolerance: Int = 8) -> [Shape] {
        var isOpen = [Bool](repeating: false, count: width * height)
        for y in 0..<height {
            for x in 0..<width where self[x, y].distance(to: color) <= tolerance { isOpen[y * width + x] = true }
        }
        var shapes: [Shape] = []
        for start in isOpen.indices where isOpen[start] {
            var shape = Shape(left: width, top: height, right: 0, bottom: 0)
            var stack = [start]
            isOpen[start] = false
            while let place = stack.popLast() {
                let (x, y) = (place % width, place / width)
                shape.left = min(shape.left, x)
                shape.right = max(shape.right, x + 1)
                shape.top = min(shape.top, y)
                shape.bottom = max(shape.bottom, y + 1)
                shape.count += 1
                shape.x += Double(x) + 0.5
                shape.y += Double(y) + 0.5
                for (nextX, nextY) in [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)] {
                    guard (0..<width).contains(nextX), (0..<height).contains(nextY) else { continue }
                    let next = nextY * width + nextX
                    if isOpen[next] { stack.append(next) }
                    isOpen[next] = false
                }
            }
            shape.x /= Double(shape.count)
            shape.y /= Double(shape.count)
            shapes.append(shape)
        }
        return shapes.sorted { $0.count > $1.count }
    }
}

extension ScreenPixels.Color {
    /// Creates a colour from the notation `#rrggbb`; nil for another notation.
    init?(hex: String) {
        guard hex.count == 7, hex.hasPrefix("#"), let value = Int(hex.dropFirst(), radix: 16) else { return nil }
        self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
    }
}
