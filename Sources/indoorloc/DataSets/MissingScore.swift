import IndoorLocalization
import ScanRecording
import VenuePackets

extension [TrackEvaluation.Outcome] {
    /// Returns the reason why the tracks have no score: nothing to score, or no position at any scored instant; nil if
    /// they have one.
    func reasonForNoScore(in venue: Venue) -> String? {
        let answers = flatMap(\.causal.answers)
        guard !answers.isEmpty else { return reasonForNothingToScore(in: venue) }
        guard answers.allSatisfy({ $0.position == nil }) else { return nil }
        let instants =
            "no position at \(answers.count == 1 ? "the" : "any of the") "
            + "\(answers.count.counting("instant")) with ground truth"
        if contains(where: { !$0.positions.isEmpty }) {
            return "\(instants), as each position comes later than them, or more than 10 s before"
        }
        guard let first = first(where: { $0.conclusion != nil }), let conclusion = first.conclusion else {
            return PrintableText.line("\(instants), as the recordings have too few beacons of '\(venue.name)'")
        }
        let track = count > 1 ? "in \(first.path) " : ""
        return PrintableText.line("\(instants), as \(track)\(conclusion.clauseWithHelp)")
    }

    private func reasonForNothingToScore(in venue: Venue) -> String {
        let truths = flatMap(\.truths)
        guard !truths.isEmpty else {
            return "the recordings have no ground truth: positions are compared with lines of type truth"
        }
        let maps = Set(truths.compactMap(\.waypoint?.mapID))
        guard !maps.isEmpty else {
            return "the recordings have no ground truth with a position: lines of type truth require mapId, x and y"
        }
        let known = Set(venue.maps.map(\.id))
        guard maps.isDisjoint(with: known) else {
            return "the recordings have no ground truth after the first 5 s, which are not scored"
        }
        func list(_ maps: Set<MapID>) -> String { maps.sorted().map(\.description).joined(separator: ", ") }
        return PrintableText.line(
            "the recordings are of another venue: their ground truth is on maps \(list(maps)), but '\(venue.name)' has maps "
                + list(known))
    }
}
