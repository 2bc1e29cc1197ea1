import IndoorLocalization

/// The particle filter, as a whole and in its innermost loop.
struct FilterBench {
    /// Beacons heard at each moment.
    static let heard = 8

    let venue: Venue
    let field: SignalField
    let evidence: [Evidence]
    let offsets: [ReceiverOffset]
    private var filter: ParticleFilter
    private var turn = 0

    /// A surveyed office of 40 × 30 m with 40 beacons, and a filter that has found its place there.
    init(particles: Int) {
        let office = BenchVenue(width: 40, height: 30, beacons: 40)
        venue = office.surveyed(every: 3)
        field = SignalField(venue: venue)
        evidence = office.evidence(on: field, of: venue, moments: 200, heard: Self.heard)
        offsets = [ReceiverOffset(deviation: 2, degreesOfFreedom: field.model.degreesOfFreedom)]
        filter = ParticleFilter(
            walls: field.walls, motion: MotionModel(), count: particles, seed: 1)
        let posterior = GridPosterior(field: field, evidence: evidence[0], offsets: offsets)
        filter.redistribute(to: [1], posterior: posterior, field: field, share: 1)
    }

    /// Half a second: predicts, weighs, resamples where that is due, and estimates.
    mutating func step() -> MapPoint? {
        let likelihood = Likelihood(field: field, evidence: evidence[turn], offsets: offsets)
        turn = (turn + 1) % evidence.count
        filter.drift(seconds: 0.5)
        _ = filter.weigh(field: field) { level, cells, sums in likelihood.add(to: &sums, level: level, cells: cells) }
        filter.setLevelShares([1])
        filter.resampleIfNeeded(levels: 1)
        return filter.moments(level: 0).map { filter.median(level: 0, from: $0.mean) }
    }
}
