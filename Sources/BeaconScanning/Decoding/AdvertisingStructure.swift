/// One AD structure of advertising data: its type, and the place of its payload.
///
/// Source: Bluetooth Core Specification 5.4, Vol 3 Part C, 11.
package struct AdvertisingStructure: Hashable, Sendable {
    /// The assigned number of the AD type, such as 0xFF for manufacturer specific data.
    package var type: UInt8
    /// The offsets of the payload, without length and type, within the advertising data.
    package var payload: Range<Int>

    /// Types that beacons use. Source: Bluetooth SIG, Assigned Numbers, 2.3.
    package enum KnownType: Sendable {
        /// Flags.
        package static let flags: UInt8 = 0x01
        /// Complete list of 16-bit service UUIDs.
        package static let serviceUUIDs: UInt8 = 0x03
        /// The beginning of the device's name.
        package static let shortenedName: UInt8 = 0x08
        /// The device's name.
        package static let completeName: UInt8 = 0x09
        /// Service data of a 16-bit service UUID, which comes first, low byte first.
        package static let serviceData: UInt8 = 0x16
        /// Manufacturer specific data; the company's number comes first, low byte first.
        package static let manufacturerData: UInt8 = 0xFF
    }
}

/// An iterator over the AD structures of advertising data, without copying.
///
/// Pass the data to each call, because a span cannot be stored.
package struct AdvertisingStructureIterator: Sendable {
    private var offset = 0

    /// Creates an iterator before the first structure.
    package init() {}

    /// Returns the next structure; nil at the end of the data, or at a length of zero, which ends the significant part.
    ///
    /// - Throws: `.truncatedStructure` if the structure ends beyond the data.
    package mutating func next(in data: Span<UInt8>) throws(AdvertisementError) -> AdvertisingStructure? {
        guard offset < data.count, data[offset] != 0 else { return nil }
        let length = Int(data[offset])
        let available = data.count - offset - 1
        guard length <= available else {
            throw .truncatedStructure(offset: offset, expected: length, found: available)
        }
        let structure = AdvertisingStructure(type: data[offset + 1], payload: (offset + 2)..<(offset + 1 + length))
        offset += 1 + length
        return structure
    }
}
