import IndoorLocalization

extension Venue {
    /// The kinds of names of the beacons with their numbers, in words; nil without beacons.
    var beaconNamingText: String? {
        guard !beacons.isEmpty else { return nil }
        let kinds = BeaconNaming.allCases.compactMap { naming -> String? in
            let count = beacons.count { $0.naming == naming }
            return count > 0 ? "\(count) by \(naming.text)" : nil
        }
        return "\(beacons.count.counting("beacon")): \(kinds.joined(separator: ", "))"
    }
}

extension BeaconNaming {
    /// The name of the kind in text for people.
    fileprivate var text: String {
        switch self {
        case .uuid: "UUID"
        case .eddystoneUID: "Eddystone-UID"
        case .altBeacon: "AltBeacon id"
        case .address: "address alone"
        }
    }
}
