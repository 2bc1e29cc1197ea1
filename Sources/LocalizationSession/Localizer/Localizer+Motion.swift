import IndoorPositioning
import IndoorVocabulary

// How the device moves, beside where it is.
extension Localizer {
    /// How the device moves, from now on, whether a venue is known or not; see ``DeadReckoningSettings/interval``.
    ///
    /// There are estimates only where the source has readings of motion, steps or pressure. In a venue, floors are the plans'
    /// levels and headings are counted from the plan's top; `position` stays metres from where the session began. Of those
    /// that nobody takes, the newest 1024 are kept, of a recording all.
    public nonisolated var motion: AsyncStream<MotionEstimate> { motionBroadcast.motion.subscribe() }

    /// Where the device points, whenever that has changed by ``DeadReckoningSettings/headingFilter``; kept as `motion` is.
    public nonisolated var headings: AsyncStream<Heading> { motionBroadcast.headings.subscribe() }

    /// How the device is turned, whenever that has changed by ``DeadReckoningSettings/attitudeFilter``; kept as `motion` is.
    public nonisolated var attitudes: AsyncStream<Attitude> { motionBroadcast.attitudes.subscribe() }
}
