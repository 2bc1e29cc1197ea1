import IndoorVocabulary

extension BeaconIdentity {
    /// The beacon's name in training data: `UUID_Maj:1_Min:2`.
    package var trainingID: String { "\(uuid)_Maj:\(major)_Min:\(minor)" }

    /// Creates an identity from a name of training data, including the format used before April 2018:
    /// `UUID.Maj:1.Min:2`.
    package init?(trainingID: String) {
        guard let separator = trainingID.dropFirst(36).first, separator == "_" || separator == "." else { return nil }
        let parts = trainingID.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].hasPrefix("Maj:"), parts[2].hasPrefix("Min:"),
            let uuid = BeaconUUID(String(parts[0])), let major = UInt16(parts[1].dropFirst(4)),
            let minor = UInt16(parts[2].dropFirst(4))
        else { return nil }
        self.init(uuid: uuid, major: major, minor: minor)
    }
}
