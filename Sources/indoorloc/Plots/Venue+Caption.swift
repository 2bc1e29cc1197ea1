import IndoorLocalization

extension Venue {
    /// The source of the expected RSSI in words.
    var radioMapCaption: String {
        guard let radioMap else { return "Without a survey: expected by the path-loss law and the walls." }
        return "Learned from a survey with \(radioMap.fingerprints.count.counting("survey point")) and "
            + "\(radioMap.beacons.count.counting("beacon"))."
    }
}
