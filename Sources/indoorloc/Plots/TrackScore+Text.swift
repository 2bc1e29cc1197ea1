import IndoorLocalizationTesting

extension TrackScore {
    /// The accuracy in a sentence.
    var caption: String {
        guard count > 0 else { return "The recording has no ground truth to compare with." }
        guard let median, let p90, let insideRadius else {
            return "No position is on the right floor at the \(count.counting("instant")) with a ground truth."
        }
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 2) + " m" }
        let inside = JSONText.number(insideRadius * 100, decimals: 0)
        return
            "Median error \(metres(median)), 90 % of the errors are at most \(metres(p90)), and \(inside) % of the true "
            + "positions lie within the 68 % radius (\(count.counting("instant")) with a ground truth)."
    }

    /// The main figures in a few words.
    var summary: String {
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) + " m" } ?? "–" }
        func percent(_ value: Double?) -> String { value.map { JSONText.number($0 * 100, decimals: 0) + " %" } ?? "–" }
        return "mean \(metres(mean)), median \(metres(median)), P90 \(metres(p90)); \(percent(answered)) answered, "
            + "\(percent(floor)) on the right floor, \(percent(insideRadius)) in the radius; n = \(count)"
    }
}
