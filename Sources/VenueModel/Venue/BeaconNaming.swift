import IndoorVocabulary

/// The kinds of name that a venue packet can have for a beacon.
///
/// A session matches beacons by their identity, regardless of the kind of name: the format of an advertisement isn't
/// part of the identity.
public enum BeaconNaming: String, Hashable, Sendable, CaseIterable {
    /// UUID, major and minor, as an iBeacon sends them.
    case uuid
    /// Namespace and instance, as a beacon sends them in Eddystone-UID frames.
    case eddystoneUID
    /// The ID of 20 bytes that an AltBeacon sends.
    case altBeacon
    /// The device address alone, regardless of the data that the transmitter sends.
    case address

    /// Returns whether a name of this kind can express an identity.
    package func expresses(_ identity: BeaconIdentity) -> Bool {
        switch self {
        case .uuid, .altBeacon: true
        case .eddystoneUID: identity.eddystoneNamespace != nil
        case .address: identity.derivedAddress != nil
        }
    }
}

extension VenueBeacon {
    /// Creates a beacon that is known by its device address alone, with the identity that is derived from the address.
    ///
    /// - Parameter address: a public or a static random address.
    public init(
        address: DeviceAddress, mapID: MapID, point: MapPoint, z: Double? = nil, measuredPower: Double? = nil,
        pathLossExponent: Double? = nil
    ) {
        self.init(
            identity: BeaconIdentity(address: address), naming: .address, address: address, mapID: mapID, point: point,
            z: z, measuredPower: measuredPower, pathLossExponent: pathLossExponent)
    }

    /// The name of the beacon for display: `UUID/major/minor`, `namespace/instance`, the 40 digits of an AltBeacon's
    /// ID, or the device address.
    public var name: String {
        switch validNaming {
        case .uuid: identity.description
        case .eddystoneUID: "\(identity.eddystoneNamespace ?? "")/\(identity.eddystoneInstance ?? "")"
        case .altBeacon: identity.altBeaconID
        case .address: address?.description ?? ""
        }
    }

    /// The kind of name of the beacon; `uuid` if the kind `naming` can't express the beacon.
    package var validNaming: BeaconNaming {
        guard naming.expresses(identity) else { return .uuid }
        return naming == .address && address?.rawValue != identity.derivedAddress?.rawValue ? .uuid : naming
    }
}

extension Venue {
    /// Returns the name of a beacon for display: its name in the packet, otherwise `UUID/major/minor`.
    ///
    /// The time is linear in the number of beacons.
    package func name(of identity: BeaconIdentity) -> String {
        beacons.first { $0.identity == identity }?.name ?? identity.description
    }
}
