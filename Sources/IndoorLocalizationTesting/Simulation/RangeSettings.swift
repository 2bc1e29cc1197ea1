/// Settings of the simulated distances to the anchors of a venue.
///
/// A distance, in metres, is `distance = d + O + E + N` with the distance d in space, the device's offset O, an excess
/// E and noise N. The excess is 0 along a free path and exponentially distributed along a reflected one. Like a real
/// reflection, it changes from place to place, but not from reading to reading.
package struct RangeSettings: Hashable, Sendable {
    /// Interval between two distances to an anchor in seconds; 0 for none, up to 3600.
    package var interval = 0.0
    /// Standard deviation of N in metres; from 0 to 100.
    package var deviation = 0.1
    /// O in metres; from -100 to 100.
    package var offset = 0.0
    /// Share of reflected paths without a wall in between; from 0 to 1.
    package var excessShare = 0.2
    /// Share of reflected paths with walls in between; from 0 to 1.
    package var hiddenExcessShare = 0.6
    /// Mean of E along a reflected path in metres; from 0 to 100.
    package var excess = 1.0
    /// Edge in metres of the areas within which E is the same; from 0.1 to 1000.
    package var excessDistance = 2.0
    /// Longest distance in metres that the device can measure; from 0.1 to 10,000.
    package var reach = 40.0
    /// Share of lost distances; from 0 to 1.
    package var lossShare = 0.1
    /// Whether the readings state their deviation.
    package var statesDeviation = false

    /// Creates settings with the documented defaults.
    package init() {}
}
