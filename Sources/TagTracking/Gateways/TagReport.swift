import BeaconScanning
import IndoorVocabulary

/// The parts of a reading while a decoder reads them.
struct TagReport {
    var address: DeviceAddress?
    /// The kind of the address, if the message states it.
    var addressKind: DeviceAddress.Kind?
    var beacon: BeaconIdentity?
    /// The name that the gateway gives the tag.
    var identifier: String?
    var name: String?
    /// The RSSI in dBm; nil if the message contains none, or one that isn't a measurement.
    var rssi: Double?
    /// The signal strength of the tag at 1 m in dBm.
    var power: Double?
    var time: GatewayTime?
    var channel: UInt8?
    /// The AD structures of the advertisement; empty if the message doesn't contain them.
    var data: [UInt8] = []

    /// Sets beacon, power and name from the AD structures.
    ///
    /// Malformed data identify no beacon. They aren't an error, because the tag sent them in this form and the
    /// gateway's RSSI is valid.
    mutating func readAdvertisement() {
        guard !data.isEmpty else { return }
        if case .beacon(let frame)? = try? BeaconFrame.decode(data.span) {
            beacon = frame.beacon
            power = frame.measuredPower.map(Double.init)
        }
        guard name == nil else { return }
        var structures = AdvertisingStructureIterator()
        while let structure = try? structures.next(in: data.span) {
            guard
                structure.type == AdvertisingStructure.KnownType.completeName
                    || structure.type == AdvertisingStructure.KnownType.shortenedName, !structure.payload.isEmpty
            else { continue }
            // A tag can advertise any text as its name.
            name = String(validating: data[structure.payload], as: UTF8.self).flatMap {
                NameText.isName($0) ? $0 : nil
            }
            return
        }
    }

    /// Begins an AD structure; returns its offset for ``endStructure(_:)``.
    mutating func beginStructure(_ type: UInt8) -> Int {
        data.append(0)
        data.append(type)
        return data.count - 2
    }

    /// Writes the length of an AD structure. One of more than 255 bytes is removed, because no advertisement contains it.
    mutating func endStructure(_ start: Int) {
        let length = data.count - start - 1
        if length <= 255 { data[start] = UInt8(length) } else { data.removeSubrange(start...) }
    }

    /// Returns the reading; nil without an RSSI.
    ///
    /// - Parameter offset: the offset of the report in the message, for the error.
    /// - Throws: ``GatewayError`` if the receiver is empty, or if the report doesn't identify the tag.
    func reading(
        by receiver: String?, window: Duration = .zero, _ format: GatewayFormat, at offset: Int?
    ) throws(GatewayError) -> GatewayReading? {
        guard let rssi else { return nil }
        guard let receiver, !receiver.isEmpty else {
            throw GatewayError(format: format, offset: offset, message: "receiver: expected its name")
        }
        guard address != nil || beacon != nil || identifier != nil || name != nil else {
            throw GatewayError(format: format, offset: offset, message: "tag: expected its address or its beacon")
        }
        var address = address
        if let addressKind { address?.kind = addressKind }
        return GatewayReading(
            receiver: receiver, address: address, beacon: beacon, identifier: identifier, name: name, rssi: rssi,
            window: window, time: time, channel: channel, measuredPower: power)
    }
}
