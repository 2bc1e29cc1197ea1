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

extension Topic where Source == Localizer, Element == MotionEstimate {
    /// How the device moves.
    public static var motion: Self { Topic { $0.motion } }
}

extension Topic where Source == Localizer, Element == Heading {
    /// Where the device points.
    public static var headings: Self { Topic { $0.headings } }
}

extension Topic where Source == Localizer, Element == Attitude {
    /// How the device is turned.
    public static var attitudes: Self { Topic { $0.attitudes } }
}
