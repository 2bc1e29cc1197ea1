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

    /// Returns the centre and the number of the pixels of a colour.
    ///
    /// - Parameter tolerance: the largest difference of a component.
    func centre(of color: Color, tolerance: Int = 8) -> (x: Double, y: Double, count: Int)? {
        var (sumX, sumY, count) = (0.0, 0.0, 0)
        for y in 0..<height {
            for x in 0..<width where self[x, y].distance(to: color) <= tolerance {
                // The centre of a pixel.
                sumX += Double(x) + 0.5
                sumY += Double(y) + 0.5
                count += 1
            }
        }
        return count == 0 ? nil : (sumX / Double(count), sumY / Double(count), count)
    }
}
