import IndoorLocalization

/// The benchmark of an estimate from the readings of one moment, without history.
struct FixBench {
    let field: SignalField
    let evidence: [Evidence]
    private let receivers: [ReceiverOffset]
    private let readings: [[Trilateration.Reading]]
    private var posterior = GridPosterior()
    private var turn = 0

    /// Creates readings in a building.
    ///
    /// - Parameters:
    ///   - spacing: the distance between two places of the survey in metres; nil without a survey.
    ///   - heard: the number of beacons received at each moment.
    init(_ building: BenchVenue, surveyedEvery spacing: Double?, heard: Int) {
        let venue = spacing.map(building.surveyed) ?? building.venue
        let field = SignalField(venue: venue)
        self.field = field
        evidence = building.evidence(on: field, of: venue, moments: 50, heard: heard, interval: 4)
        receivers = [ReceiverOffset(deviation: 2)]
        readings = evidence.map { moment in
            moment.heard.map { heard in
                Trilateration.Reading(
                    point: venue.beacons[heard.beacon].point, power: -59, exponent: 2.2, rssi: Double(heard.rssi))
            }
        }
    }

    /// Returns the mean of the grid posterior.
    mutating func grid() -> MapPoint? {
        turn = (turn + 1) % evidence.count
        posterior.weigh(Likelihood(field: field, evidence: evidence[turn], receivers: receivers))
        return posterior.moments(mapIndex: 0, field: field)?.mean
    }

    /// Returns the estimate by robust least squares.
    mutating func leastSquares() -> MapPoint? {
        turn = (turn + 1) % evidence.count
        return Trilateration.solve(readings[turn])?.point
    }
}
