/// One element of a scan: the format of a channel's raw value in a buffer.
///
/// The format of the type is `[be|le]:[s|u]BITS/STORAGEBITS[XREPEAT]>>SHIFT`. Source: the Linux kernel,
/// Documentation/ABI/testing/sysfs-bus-iio, *scan_elements/…_type*.
struct IIOScanElement: Hashable, Sendable {
    let channel: String
    let index: Int
    private let isBigEndian: Bool
    private let isSigned: Bool
    private let bits: Int
    private let shift: Int
    /// The size of the element in bytes.
    let size: Int

    /// Parses a type; returns nil if it isn't a valid type of a number of up to 64 bits.
    init?(channel: String, index: Int, type: String) {
        guard let match = type.wholeMatch(of: #/(be|le):(s|u)(\d+)\/(\d+)(?:X(\d+))?>>(\d+)/#),
            let bits = Int(match.output.3), let storage = Int(match.output.4), let shift = Int(match.output.6),
            [8, 16, 32, 64].contains(storage), bits >= 1, bits + shift <= storage,
            match.output.5.map({ $0 == "1" }) ?? true
        else { return nil }
        self.channel = channel
        self.index = index
        isBigEndian = match.output.1 == "be"
        isSigned = match.output.2 == "s"
        self.bits = bits
        self.shift = shift
        size = storage / 8
    }

    /// Returns the raw value in the element's bytes.
    func value(of bytes: ArraySlice<UInt8>) -> Int64 {
        var stored: UInt64 = 0
        if isBigEndian {
            for byte in bytes { stored = stored << 8 | UInt64(byte) }
        } else {
            for byte in bytes.reversed() { stored = stored << 8 | UInt64(byte) }
        }
        let unused = UInt64(64 - bits)
        let left = (stored >> UInt64(shift)) << unused
        return isSigned ? Int64(bitPattern: left) >> Int64(unused) : Int64(bitPattern: left >> unused)
    }
}

/// The layout of a scan: its elements in order of their indexes, each aligned to its own size.
struct IIOScanLayout: Sendable {
    private let places: [(element: IIOScanElement, offset: Int)]
    /// The size of a scan in bytes.
    let size: Int

    init(_ elements: [IIOScanElement]) {
        var offset = 0
        var places: [(element: IIOScanElement, offset: Int)] = []
        for element in elements.sorted(by: { $0.index < $1.index }) {
            offset = Self.aligned(offset, to: element.size)
            places.append((element, offset))
            offset += element.size
        }
        self.places = places
        size = Self.aligned(offset, to: elements.map(\.size).max() ?? 1)
    }

    private static func aligned(_ offset: Int, to size: Int) -> Int { (offset + size - 1) / size * size }

    /// Returns the raw values of one scan by channel.
    func values(of scan: ArraySlice<UInt8>) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for (element, offset) in places {
            let start = scan.startIndex + offset
            values[element.channel] = element.value(of: scan[start..<start + element.size])
        }
        return values
    }
}
