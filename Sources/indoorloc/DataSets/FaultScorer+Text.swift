import IndoorLocalizationTesting

extension FaultScorer {
    /// Adds all figures as members; a figure without data is null.
    func addFigures(to json: inout JSONText) {
        json.add("disturbedBeacons", disturbed)
        json.add("namedInMinute", shareInMinute ?? .nan, decimals: 4)
        json.add("receivedDisturbedBeacons", heard)
        json.add("named", shareNamed ?? .nan, decimals: 4)
        json.add("falseAlarms", falseAlarms)
        json.add("hours", hours, decimals: 4)
    }

    /// All figures in one line.
    func line(of name: String) -> String {
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        return "\(name) faults: named \(named) of \(heard) disturbed beacons, and \(percent(shareInMinute)) of "
            + "\(disturbed) within the first minute of hearing; \(falseAlarms) false alarms in "
            + "\(JSONText.number(hours, decimals: 2)) h"
    }
}
