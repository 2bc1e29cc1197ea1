import Foundation
import LocalizationFigures
import XCTest

/// The pixels of a figure as `rsvg-convert` or a browser renders it.
struct RenderedFigure {
    enum Failure: Error, CustomStringConvertible {
        case failed(String, status: Int32, errors: String)

        var description: String {
            switch self {
            case .failed(let program, let status, let errors): "\(program) failed with status \(status): \(errors)"
            }
        }
    }

    let width: Int
    let height: Int
    private let bytes: [UInt8]

    /// Renders the document with a pixel of the image for each of its pixels.
    ///
    /// - Throws: `Failure` if the renderer rejects the document.
    init(_ svg: String) throws { try self.init(png: Self.png(svg)) }

    /// Renders the document with a pixel of the image for each square of two pixels.
    init(halving svg: String) throws {
        try self.init(png: Self.run("rsvg-convert", ["--format", "png", "--zoom", "0.5"], input: Data(svg.utf8)))
    }

    /// Renders the document in Chromium in half its size. The image is larger than the document.
    init(inBrowserHalving figure: Figure) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "figure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (document, image) = (folder.appending(path: "figure.svg"), folder.appending(path: "figure.png"))
        try Data(figure.svg.utf8).write(to: document)
        let size = "\(Int(figure.width) + 40),\(Int(figure.height) + 200)"
        _ = try Self.run(
            "chromium",
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--force-color-profile=srgb", "--force-device-scale-factor=0.5", "--no-first-run",
                "--user-data-dir=\(folder.path)/profile",
                "--screenshot=\(image.path)", "--window-size=\(size)", document.absoluteString,
            ], input: Data())
        try self.init(png: Data(contentsOf: image))
    }

    private init(png: Data) throws {
        let pixels = try Self.run("python3", ["-c", Self.decoder], input: png)
        let header = pixels.prefix(8).map { Int($0) }
        width = header[0] << 24 | header[1] << 16 | header[2] << 8 | header[3]
        height = header[4] << 24 | header[5] << 16 | header[6] << 8 | header[7]
        bytes = Array(pixels.dropFirst(8))
    }

    /// Renders the document as a PNG, whose pixels take long to decode.
    ///
    /// - Throws: `Failure` if the renderer rejects the document.
    @discardableResult static func png(_ svg: String) throws -> Data {
        try run("rsvg-convert", ["--format", "png"], input: Data(svg.utf8))
    }

    /// The mean brightness, from 0 to 255, of the squares of `size` pixels in the top left part of the image, in rows.
    func brightness(ofSquares size: Int, columns: Int, rows: Int) -> [Double] {
        (0..<rows * columns).map { square in
            var sum = 0
            for y in 0..<size {
                let start = ((square / columns * size + y) * width + square % columns * size) * 3
                for byte in bytes[start..<start + 3 * size] { sum += Int(byte) }
            }
            return Double(sum) / Double(3 * size * size)
        }
    }

    /// Returns the columns that have a pixel of a colour, which is given as hexadecimal digits.
    func columns(of hex: String) -> Set<Int> {
        let color = stride(from: 0, to: 6, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
        var columns: Set<Int> = []
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            while start < bytes.count {
                if bytes[start] == color[0], bytes[start + 1] == color[1], bytes[start + 2] == color[2] {
                    columns.insert(start / 3 % width)
                }
                start += 3
            }
        }
        return columns
    }

    /// Returns the colour of the pixel that contains a point, as hexadecimal digits of red, green and blue.
    func hex(x: Double, y: Double) -> String {
        let start = (Int(y) * width + Int(x)) * 3
        guard x >= 0, y >= 0, Int(x) < width, bytes.indices.contains(start + 2) else { return "outside" }
        return bytes[start..<start + 3].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Converts a PNG with eight bits for each colour to its size, and its red, green and blue bytes.
    private static let decoder = """
        import struct, sys, zlib
        data = sys.stdin.buffer.read()
        assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
        place, packed, header = 8, b"", b""
        while place < len(data):
            length, kind = struct.unpack(">I4s", data[place:place + 8])
            body = data[place + 8:place + 8 + length]
            header = body if kind == b"IHDR" else header
            packed += body if kind == b"IDAT" else b""
            place += length + 12
        width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", header)
        assert depth == 8 and color in (2, 6) and interlace == 0, (depth, color, interlace)
        size = 4 if color == 6 else 3
        raw, row, out = zlib.decompress(packed), bytearray(width * size), bytearray()
        for y in range(height):
            start = y * (width * size + 1)
            kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
            if kind == 2: line = bytearray([(a + b) & 255 for a, b in zip(line, row)])
            for i in range(width * size if kind in (1, 3, 4) else 0):
                left, up = (line[i - size] if i >= size else 0), row[i]
                corner = row[i - size] if i >= size else 0
                if kind == 1: line[i] = line[i] + left & 255
                elif kind == 3: line[i] = line[i] + (left + up) // 2 & 255
                elif kind == 4:
                    guess = left + up - corner
                    a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
                    line[i] = line[i] + (left if a <= b and a <= c else up if b <= c else corner) & 255
            row = line
            pixels = bytearray(width * 3)
            for color in range(3): pixels[color::3] = line[color::size]
            out += pixels
        sys.stdout.buffer.write(struct.pack(">II", width, height) + bytes(out))
        """

    private static func run(_ program: String, _ arguments: [String], input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        // Files instead of pipes, which would block when they are full.
        let folder = FileManager.default.temporaryDirectory.appending(path: "figure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "errors"].map { folder.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let errors = try String(decoding: Data(contentsOf: files[2]), as: UTF8.self)
            throw Failure.failed(program, status: process.terminationStatus, errors: errors)
        }
        return try Data(contentsOf: files[1])
    }
}

extension Figure {
    /// The place of a text in the document.
    struct Label: Hashable {
        var text: String
        var x: Double
        var y: Double
        var isCentered: Bool
    }

    /// The texts of the document with their places, as they are written.
    var labels: [Label] {
        svg.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("<text "), let start = line.firstIndex(of: ">") else { return nil }
            func attribute(_ name: String) -> String? {
                line.range(of: " \(name)=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
            }
            guard let x = attribute("x").flatMap(Double.init), let y = attribute("y").flatMap(Double.init) else {
                return nil
            }
            let text = line[line.index(after: start)...].prefix { $0 != "<" }
            return Label(text: String(text), x: x, y: y, isCentered: attribute("text-anchor") == "middle")
        }
    }

    /// Returns the pixel of a chart's point, located by the labels of the axes' ticks.
    func pixel(xTick: String, yTick: String) throws -> (x: Double, y: Double) {
        let x = try XCTUnwrap(labels.first { $0.text == xTick && $0.isCentered }, "no tick \(xTick)")
        let y = try XCTUnwrap(labels.first { $0.text == yTick && !$0.isCentered }, "no tick \(yTick)")
        return (x.x, y.y - 4)
    }
}
