/// The size of a PNG, JPEG, GIF or WebP picture in pixels, as a browser shows it.
///
/// Sources: W3C, *Portable Network Graphics*, 11.2.2 (IHDR); ITU-T T.81, B.2.2 (frame header); CIPA DC-008, *Exif*,
/// 4.6.4 (orientation); CompuServe, *Graphics Interchange Format 89a*, 18; RFC 9649, *WebP Image Format*, 2.
struct PictureSize: Hashable, Sendable {
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads the size from a picture's header; nil for other formats, and for a header that is damaged.
    init?(of bytes: [UInt8]) {
        let reader = PictureHeader(bytes: bytes)
        let size: PictureSize? =
            switch PictureFormat(of: bytes) {
            case .png: reader.sizeOfPNG()
            case .jpeg: reader.sizeOfJPEG()
            case .gif: reader.sizeOfGIF()
            case .webp: reader.sizeOfWebP()
            case nil: nil
            }
        guard let size, size.width > 0, size.height > 0 else { return nil }
        self = size
    }
}

/// Fields in the header of a picture; nil beyond its end.
private struct PictureHeader {
    let bytes: [UInt8]

    /// Returns a number whose most significant byte comes first.
    func big(_ first: Int, _ count: Int) -> Int? {
        guard first >= 0, first + count <= bytes.count else { return nil }
        return bytes[first..<first + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a number whose least significant byte comes first.
    func little(_ first: Int, _ count: Int) -> Int? {
        guard first >= 0, first + count <= bytes.count else { return nil }
        return bytes[first..<first + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func text(_ first: Int, _ count: Int) -> String? {
        guard first + count <= bytes.count else { return nil }
        return String(decoding: bytes[first..<first + count], as: UTF8.self)
    }

    private func size(_ width: Int?, _ height: Int?) -> PictureSize? {
        guard let width, let height else { return nil }
        return PictureSize(width: width, height: height)
    }

    func sizeOfPNG() -> PictureSize? { size(big(16, 4), big(20, 4)) }

    func sizeOfGIF() -> PictureSize? { size(little(6, 2), little(8, 2)) }

    /// Reads the first chunk: lossy, lossless, or extended.
    func sizeOfWebP() -> PictureSize? {
        switch text(12, 4) {
        case "VP8 ": size(little(26, 2).map { $0 & 0x3FFF }, little(28, 2).map { $0 & 0x3FFF })
        case "VP8L": little(21, 4).map { PictureSize(width: ($0 & 0x3FFF) + 1, height: ($0 >> 14 & 0x3FFF) + 1) }
        case "VP8X": size(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
        default: nil
        }
    }

    func sizeOfJPEG() -> PictureSize? {
        var place = 2
        var isTurned = false
        while big(place, 1) == 0xFF, let marker = big(place + 1, 1), let length = big(place + 2, 2) {
            // The frame headers SOF0 to SOF15, without DHT, JPG and DAC, which are in the same range.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                guard let size = size(big(place + 7, 2), big(place + 5, 2)) else { return nil }
                return isTurned ? PictureSize(width: size.height, height: size.width) : size
            }
            if marker == 0xE1, text(place + 4, 4) == "Exif" { isTurned = isTurnedByExif(at: place + 10) }
            place += 2 + max(2, length)
        }
        return nil
    }

    /// Returns whether the orientation of a photograph exchanges width and height: values 5 to 8.
    private func isTurnedByExif(at start: Int) -> Bool {
        let isLittle = text(start, 2) == "II"
        func number(_ offset: Int, _ count: Int) -> Int? {
            isLittle ? little(start + offset, count) : big(start + offset, count)
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return false }
        for entry in 0..<count {
            let place = directory + 2 + 12 * entry
            guard let tag = number(place, 2) else { return false }
            if tag == 0x0112 { return number(place + 8, 2).map { (5...8).contains($0) } ?? false }
        }
        return false
    }
}
