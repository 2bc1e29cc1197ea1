import IndoorLocalization

extension RadioMap {
    /// What the survey told of the model's numbers, in words; nil if it told none.
    var learnedText: String? {
        var parts: [String] = []
        func add(_ number: Double?, decimals: Int, _ text: (String) -> String) {
            if let number { parts.append(text(JSONText.number(number, decimals: decimals))) }
        }
        add(readingDeviation, decimals: 1) { "readings lie \($0) dB off the map" }
        add(fit.floorLoss, decimals: 1) { "a floor takes \($0) dB" }
        add(fit.receiverDeviation, decimals: 1) { "receivers differ by \($0) dB" }
        for (name, receiver) in fit.devices.sorted(by: { $0.key < $1.key }).prefix(5) {
            let deviation = JSONText.number(receiver.deviation, decimals: 1)
            add(receiver.offset, decimals: 1) { "\(name) hears \($0) ± \(deviation) dB stronger" }
        }
        add(fit.bodyDeviation, decimals: 1) { "bodies take \($0) dB" }
        add(fit.rateLength, decimals: 2) { "detections are averaged over \($0) m" }
        add(fit.supportWidth, decimals: 2) { "people keep within \($0) m" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
