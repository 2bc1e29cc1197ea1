import IndoorLocalizationTesting

extension TrackScore {
    /// Adds all figures as members; null where nothing tells.
    func addFigures(to json: inout JSONText) {
        json.add("n", count)
        for (name, value) in [
            ("answered", answered), ("floor", floor), ("mean", mean), ("median", median), ("p75", p75), ("p90", p90),
            ("p95", p95), ("ipin", ipin), ("insideRadius", insideRadius),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
    }

    /// All figures in one line.
    func figureLine(of name: String) -> String {
        guard count > 0 else { return "\(name): no truth with a place to score on" }
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) } ?? "-" }
        return """
            \(name): n \(count)  answered \(percent(answered))  floor \(percent(floor))  mean \(metres(mean))  \
            median \(metres(median))  P75 \(metres(p75))  P90 \(metres(p90))  P95 \(metres(p95))  \
            IPIN \(metres(ipin))  inside radius \(percent(insideRadius))
            """
    }
}
