import IndoorLocalization

extension RoomTrainingSet {
    /// Returns the reason why no room was found.
    ///
    /// - Parameter training: the name of the training data, such as its file.
    func reasonForNoRoom(in scans: [RoomScan], training: String) -> String {
        let trained = beacons
        let heard = scans.reduce(into: Set<BeaconIdentity>()) { $0.formUnion($1.rssi.keys) }
        let most = scans.map { $0.rssi.keys.count { trained.contains($0) } }.max() ?? 0
        if heard.isEmpty { return "no beacon was received" }
        if heard.isDisjoint(with: trained) {
            return
                "none of the \(heard.count) received beacons is in \(training); is it the training of another building?"
        }
        if most < FingerprintQuality.neededBeacons {
            return "no scan has \(FingerprintQuality.neededBeacons) beacons of \(training); the most is \(most)"
        }
        return "the scans match none of the rooms of \(training), or a match was too short for the change rule"
    }
}
