import IndoorVocabulary

/// What a beacon says of itself in one advertisement.
public struct BeaconFrame: Hashable, Sendable {
    /// How a beacon frame is laid out.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// Apple's layout: UUID, major and minor in manufacturer data of company 0x004C.
        case iBeacon
        /// The open layout in manufacturer data of any company.
        case altBeacon
        /// Google's layout: 10 bytes namespace and 6 bytes instance in service data of 0xFEAA.
        case eddystoneUID
    }

    /// What decoding found in sound advertising data.
    public enum Decoding: Hashable, Sendable {
        /// A beacon frame.
        case beacon(BeaconFrame)
        /// Something else, and why it is no beacon.
        case notABeacon(NotABeacon)
    }

    /// Why sound advertising data are no beacon frame: what stood in the first place where one could have been.
    public enum NotABeacon: Hashable, Sendable {
        /// Neither manufacturer data nor service data.
        case noPayload
        /// Manufacturer data of another layout, of the company with that number; nil if too short to have one.
        case otherManufacturerData(company: UInt16?)
        /// Service data of another 16-bit service; nil if too short to name one.
        case otherServiceData(service: UInt16?)
        /// An Eddystone frame of another type, such as URL (0x10), TLM (0x20) or EID (0x30); nil if it has no type.
        case otherEddystoneFrame(type: UInt8?)
    }

    /// How the frame is laid out.
    public var format: Format
    /// Which beacon it is. Of Eddystone-UID: namespace and instance together as UUID, major and minor 0.
    public var beacon: BeaconIdentity
    /// Signal strength at 1 m in dBm. Eddystone-UID sends it at 0 m; 41 dB are taken off here.
    public var measuredPower: Int

    /// Creates a frame from its parts, unchecked.
    public init(format: Format, beacon: BeaconIdentity, measuredPower: Int) {
        self.format = format
        self.beacon = beacon
        self.measuredPower = measuredPower
    }

    /// What a signal loses in dB on the first metre, by Eddystone's convention.
    ///
    /// Source: Eddystone protocol specification, UID frame, Tx Power (github.com/google/eddystone, eddystone-uid).
    static let eddystoneLossToOneMeter = 41
}

extension BeaconFrame.Format {
    /// The measured powers in dBm at 1 m that a beacon of this format can have.
    ///
    /// iBeacon and AltBeacon: what a receiver can measure. Eddystone: -100 to 20 dBm at 0 m, as its specification says.
    public var plausiblePowers: ClosedRange<Int> {
        switch self {
        case .iBeacon, .altBeacon: -127 ... -1
        case .eddystoneUID:
            (-100 - BeaconFrame.eddystoneLossToOneMeter)...(20 - BeaconFrame.eddystoneLossToOneMeter)
        }
    }
}
