import IndoorVocabulary

/// One report of an advertisement, as a controller hands it to its host.
///
/// Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 (LE Advertising Report) and 7.7.65.13
/// (LE Extended Advertising Report).
package struct AdvertisingReport: Hashable, Sendable {
    /// What the advertiser lets others do, and in which way it was heard: the lower bits of the extended event type.
    package struct Properties: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let connectable = Properties(rawValue: 1 << 0)
        package static let scannable = Properties(rawValue: 1 << 1)
        /// It is meant for one device only.
        package static let directed = Properties(rawValue: 1 << 2)
        /// It is the answer to an active scan, not an advertisement.
        package static let scanResponse = Properties(rawValue: 1 << 3)
        /// It came in one of the packets of Bluetooth 4, with 31 bytes of data at most.
        package static let legacy = Properties(rawValue: 1 << 4)
    }

    /// How much of the advertiser's data are there.
    package enum DataStatus: UInt8, Hashable, Sendable {
        /// All of them, or the last ones.
        case complete = 0
        /// Further reports bring the rest.
        case moreToCome = 1
        /// The rest was not heard, and will not come.
        case truncated = 2
    }

    /// What the event type says.
    package var properties: Properties
    /// How much of the data are there.
    package var dataStatus: DataStatus
    /// Who sent it; nil if it is anonymous.
    ///
    /// Its kind is nil where the address type is one of those that the specification keeps for later.
    package var address: DeviceAddress?
    /// The advertising set, in [0, 15]; nil if the advertiser names none, as legacy ones do.
    package var setID: UInt8?
    /// Power at the transmitter in dBm; nil if it does not tell.
    package var transmitPower: Int8?
    /// Signal strength in dBm, as the controller gives it: 127 stands for "not available".
    package var rssi: Int8
    /// Where the AD structures lie within the event.
    package var data: Range<Int>

    /// Creates a report from its parts, unchecked.
    package init(
        properties: Properties, dataStatus: DataStatus, address: DeviceAddress?, setID: UInt8?, transmitPower: Int8?,
        rssi: Int8, data: Range<Int>
    ) {
        self.properties = properties
        self.dataStatus = dataStatus
        self.address = address
        self.setID = setID
        self.transmitPower = transmitPower
        self.rssi = rssi
        self.data = data
    }

    /// Whether the RSSI is a measurement; 127, 0 and positive ones are none.
    package var hasMeasurement: Bool { Sighting.isMeasurement(rssi: Double(rssi)) }
}
