import IndoorVocabulary
import LocalizationSession

extension MQTTSharingSettings {
    /// Finds what is out of its range.
    ///
    /// - Throws: `MQTTSharingError.badPrefix` or `badSetting`.
    package func check() throws(MQTTSharingError) {
        for prefix in [prefix] + (homeAssistantPrefix.map { [$0] } ?? []) {
            let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
            guard levels.allSatisfy({ SharingNameError(of: String($0)) == nil }) else { throw .badPrefix(prefix) }
        }
        try Self.check("interval", interval, 0...86_400)
        try Self.check("keepAlive", keepAlive, 5...65_535)
        try Self.check("patience", patience, 0.001...3600)
        try Self.check("firstPause", firstPause, 0.001...60)
        for (name, capacity) in [("roomCapacity", roomCapacity), ("serverCapacity", serverCapacity)] {
            guard let capacity, capacity < 0 else { continue }
            throw .badSetting(name: name, value: "\(capacity)", range: "0 or more devices")
        }
    }

    private static func check(
        _ name: String, _ value: Duration, _ range: ClosedRange<Double>
    ) throws(MQTTSharingError) {
        guard !range.contains(value.seconds) else { return }
        throw .badSetting(
            name: name, value: "\(value.seconds) s", range: "\(range.lowerBound) s to \(range.upperBound) s")
    }
}
