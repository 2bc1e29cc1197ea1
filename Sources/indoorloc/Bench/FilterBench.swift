import IndoorLocalization

/// The benchmark of the particle filter.
struct FilterBench {
    /// The number of beacons received at each moment.
    static let heard = 8

    let venue: Venue
    let field: SignalField
    let evidence: [Evidence]
    let receivers: [ReceiverOffset]
    private var filter: ParticleFilter
    private var turn = 0

    /// Creates a surveyed office of 40 × 30 m with 40 beacons, and a filter that has converged there.
    init(particles: Int) {
        let office = BenchVenue(width: 40, height: 30, beacons: 40)
        venue = office.surveyed(every: 3)
        field = SignalField(venue: venue)
        evidence = office.evidence(on: field, of: venue, moments: 200, heard: Self.heard)
        receivers = [ReceiverOffset(deviation: 2)]
        filter = ParticleFilter(
            walls: field.walls, motion: MotionModel(), count: particles, seed: 1)
        filter.receivers = receivers
        let posterior = GridPosterior(Likelihood(field: field, evidence: evidence[0], receivers: receivers))
        let likelihood = Likelihood(field: field, evidence: evidence[0], receivers: receivers)
        filter.redistribute(to: [1], posterior: posterior, likelihood: likelihood, share: 1)
    }

    /// Advances by half a second: predicts, weighs, resamples if needed, and estimates.
    mutating func step() -> MapPoint? {
        let likelihood = Likelihood(field: field, evidence: evidence[turn], receivers: receivers)
        turn = (turn + 1) % evidence.count
        filter.drift(seconds: 0.5)
        filter.passReceivers(seconds: 0.5, field.model)
        _ = filter.weigh(likelihood) { _, _, _ in }
        filter.setMapShares([1])
        filter.resampleIfNeeded(mapCount: 1)
        return filter.moments(mapIndex: 0).map { filter.median(mapIndex: 0, from: $0.mean) }
    }
}
