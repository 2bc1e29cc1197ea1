import BeaconScanning
import IndoorVocabulary
import TextFormats

/// The level of a tag's battery, as the tag reports it.
package struct TagBattery: Hashable, Sendable {
    /// The level in percent, from 0 to 100; nil if the tag doesn't report it.
    package var percent: UInt8?
    /// The voltage in millivolts, above 0; nil if the tag doesn't report it.
    package var millivolts: UInt16?

    /// Creates a level.
    package init(percent: UInt8? = nil, millivolts: UInt16? = nil) {
        (self.percent, self.millivolts) = (percent, millivolts)
    }

    /// Creates a level from the numbers of a gateway. Numbers out of range are unknown; without any, the result is nil.
    init?(percent: Double?, millivolts: Double? = nil) {
        self.percent = percent.flatMap { (0...100).contains($0) ? UInt8($0.rounded()) : nil }
        self.millivolts = millivolts.flatMap { (1...65_535).contains($0) ? UInt16($0.rounded()) : nil }
        if self.percent == nil, self.millivolts == nil { return nil }
    }

    /// Creates a level from the AD structures of an advertisement; nil if they have none.
    ///
    /// Sources: Eddystone-TLM, github.com/google/eddystone, `eddystone-tlm/tlm-plain.md`; Ruuvi, docs.ruuvi.com, data
    /// formats 3 and 5 (RAWv1, RAWv2); BTHome, bthome.io/format.
    init?(advertising data: [UInt8]) {
        var structures = AdvertisingStructureIterator()
        while let structure = try? structures.next(in: data.span) {
            let battery: TagBattery? =
                switch structure.type {
                case AdvertisingStructure.KnownType.manufacturerData: Self.ruuvi(data, structure.payload)
                case AdvertisingStructure.KnownType.serviceData: Self.service(data, structure.payload)
                default: nil
                }
            if let battery {
                self = battery
                return
            }
        }
        return nil
    }

    /// Returns the voltage of a manufacturer's data with the number of Ruuvi, 0x0499.
    private static func ruuvi(_ data: [UInt8], _ range: Range<Int>) -> TagBattery? {
        let start = range.lowerBound
        guard range.count >= 16, data[start] == 0x99, data[start + 1] == 0x04 else { return nil }
        switch data[start + 2] {
        case 3: return TagBattery(percent: nil, millivolts: Double(number(data, at: start + 14)))
        case 5 where range.count >= 17:
            let level = number(data, at: start + 15) >> 5
            // The largest number means that the voltage is unknown.
            return level == 2047 ? nil : TagBattery(millivolts: level + 1600)
        default: return nil
        }
    }

    private static func service(_ data: [UInt8], _ range: Range<Int>) -> TagBattery? {
        let start = range.lowerBound
        guard range.count >= 5 else { return nil }
        switch (data[start], data[start + 1]) {
        case (0xAA, 0xFE) where range.count >= 6 && data[start + 2] == 0x20 && data[start + 3] == 0:
            // A tag without a battery sends 0.
            return TagBattery(percent: nil, millivolts: Double(number(data, at: start + 4)))
        case (0xD2, 0xFC) where data[start + 2] & 1 == 0 && data[start + 2] >> 5 == 2:
            // The first bit of the flags is encryption, and the last three are the version, 2. Objects are in order of
            // their numbers: 0 is the number of the packet, and 1 the battery.
            let object = start + (data[start + 3] == 0 ? 5 : 3)
            guard object + 1 < range.upperBound, data[object] == 1 else { return nil }
            return TagBattery(percent: Double(data[object + 1]))
        default: return nil
        }
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> UInt16 {
        UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }

    /// Writes the member `battery` with the known values.
    package func write(to json: inout JSONWriter) {
        json.name("battery")
        json.beginObject()
        if let percent { json.add("percent", percent) }
        json.add("volts", millivolts.map { Double($0) / 1000 }, decimals: 3)
        json.endObject()
    }
}
