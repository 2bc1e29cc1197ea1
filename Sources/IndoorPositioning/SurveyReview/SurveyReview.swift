import IndoorVocabulary
import VenueModel

/// The settings of a survey's review.
package struct SurveyReviewSettings: Hashable, Sendable {
    /// The parameters of the signal.
    package var signal = SignalModel()
    /// The distance in metres from a survey place within which a walkable place is covered, above 0.
    package var coverDistance = 5.0
    /// The minimum area in m² of a reported gap.
    package var leastGap = 4.0
    /// The number of places below which a beacon has few readings.
    package var fewestPlaces = 5
    /// The logarithm of the likelihood ratio above which the readings contradict a beacon's place. With the default of
    /// 6, the probability of a contradiction for a correct place is 0.25 %, if the signal follows the model.
    package var moveEvidence = 6.0
    /// The minimum reported displacement of a beacon in metres.
    package var leastMove = 5.0
    /// The minimum difference in dB between a weak beacon and the other beacons.
    package var weakDifference = 8.0
    /// The root mean square of a place's residuals, relative to the residuals of the whole survey, above which the
    /// place contradicts its neighbours.
    package var contradiction = 2.5

    /// Creates the default settings.
    package init() {}
}

/// A review of a radio survey: missing places, suspicious beacons, and readings that contradict each other.
///
/// The review needs only the radio map that `RadioMapLearner` returns.
public struct SurveyReview: Hashable, Sendable {
    /// A place whose readings contradict those of its neighbours.
    public struct Contradiction: Hashable, Sendable {
        /// The index of the place in the radio map's fingerprints.
        public var place: Int
        /// The map of the place.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// The root mean square of the residuals, relative to the residuals of the whole survey: 1 for a typical place.
        public var ratio: Double
        /// The mean difference of the readings from the prediction in dB.
        public var offset: Double
    }

    /// The number of surveyed places.
    package let places: Int
    /// The number of beacons that the survey detected.
    package let beacons: Int
    /// The parts of the walkable area without a survey place nearby, the largest first.
    public let gaps: [SurveyGap]
    /// The suspicious beacons, ordered by identity.
    public let findings: [BeaconFinding]
    /// The places whose readings contradict their neighbours, the worst first.
    public let contradictions: [Contradiction]
    /// The leave-one-out residuals of the readings, ordered by place and beacon.
    package let residuals: [SurveyResidual]
    /// The distance in metres from a survey place beyond which a walkable place belongs to a gap.
    package let coverDistance: Double

    /// The minimum number of readings of a place for a comparison with its neighbours.
    private static let fewestReadings = 4

    /// Reviews a radio map of a venue; the venue's own radio map isn't used.
    ///
    /// The time is cubic in the number of readings of a beacon, which are thinned out beyond 400 per map.
    public init(of radioMap: RadioMap, in venue: Venue) {
        self.init(of: radioMap, in: venue, settings: SurveyReviewSettings())
    }

    /// Reviews a radio map with other limits of the findings.
    package init(of radioMap: RadioMap, in venue: Venue, settings: SurveyReviewSettings) {
        places = radioMap.fingerprints.count
        beacons = radioMap.beacons.count
        coverDistance = settings.coverDistance
        gaps = radioMap.surveyGaps(in: venue, distance: settings.coverDistance, leastArea: settings.leastGap)
        residuals = radioMap.residuals(in: venue, model: settings.signal)
        let ratios = residuals.map { abs($0.value) / $0.deviation }.sorted()
        // 0.6745 is the median magnitude of a standard normal variable.
        let stretch = ratios.isEmpty ? 1 : max(ratios[ratios.count / 2] / 0.6745, 0.1)
        contradictions = Self.contradictions(residuals, radioMap, stretch: stretch, limit: settings.contradiction)
        findings = BeaconInspection(venue: venue, radioMap: radioMap, settings: settings).findings()
    }

    private static func contradictions(
        _ residuals: [SurveyResidual], _ radioMap: RadioMap, stretch: Double, limit: Double
    ) -> [Contradiction] {
        Dictionary(grouping: residuals, by: \.place).compactMap { index, residuals -> Contradiction? in
            guard residuals.count >= fewestReadings else { return nil }
            let count = Double(residuals.count)
            let square = residuals.reduce(0) { sum, residual in
                let ratio = residual.value / (residual.deviation * stretch)
                return sum + ratio * ratio / count
            }
            guard square > limit * limit else { return nil }
            let place = radioMap.fingerprints[index]
            return Contradiction(
                place: index, mapID: place.mapID, point: place.point, ratio: square.squareRoot(),
                offset: residuals.reduce(0) { $0 + $1.value } / count)
        }.sorted { ($1.ratio, $0.place) < ($0.ratio, $1.place) }
    }
}
