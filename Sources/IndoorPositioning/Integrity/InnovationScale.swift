/// The ratio of the beacons' errors in this venue to those that the signal field expects.
///
/// The deviations of the signal field are upper bounds, and a venue without a survey has the widest. The errors of the
/// beacons against each other show how large they are here. The more exact they are, the smaller the contradiction that
/// stands out.
struct InnovationScale: Sendable {
    /// The mean of the errors' magnitudes, relative to that of a normal distribution.
    private var ratio = InnovationScale.first
    private var count = InnovationScale.firstCount

    /// The ratio before any reading: the largest of the public data sets. A smaller one accuses healthy beacons.
    private static let first = 0.8
    /// The number of readings whose weight the first ratio has, and the number after which old readings count less.
    private static let firstCount = 30.0
    private static let memory = 300.0
    /// The largest error that counts, in standard deviations, and the mean of a normal distribution so limited.
    private static let limit = 1.5
    private static let mean = 0.72
    private static let range = 0.5...1.2

    /// The factor on the standard deviations.
    var value: Double { min(max(ratio, Self.range.lowerBound), Self.range.upperBound) }

    /// Adds the error of a reading, in standard deviations that include the factor.
    mutating func observe(_ error: Double, scale: Double) {
        count = min(count + 1, Self.memory)
        ratio += (min(error, Self.limit) * scale / Self.mean - ratio) / count
    }
}
