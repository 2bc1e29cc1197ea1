import IndoorPositioning
import IndoorVocabulary

// The motion of the device, in addition to its position.
extension Localizer {
    /// A stream of motion estimates, whether or not a venue is known, at ``DeadReckoningSettings/interval``.
    ///
    /// The localizer estimates motion only if the source delivers motion, step or pressure readings. In a venue, floors
    /// are the levels of the plans, and headings are measured from the top of the plan. `position` stays in metres from
    /// where the session started. The stream buffers the newest 1024 estimates, on a recording all of them.
    public nonisolated var motion: AsyncStream<MotionEstimate> { motionBroadcast.motion.subscribe() }

    /// A stream of headings, one for each change by ``DeadReckoningSettings/headingFilter``; buffered like ``motion``.
    public nonisolated var headings: AsyncStream<Heading> { motionBroadcast.headings.subscribe() }

    /// A stream of attitudes, one for each change by ``DeadReckoningSettings/attitudeFilter``; buffered like
    /// ``motion``.
    public nonisolated var attitudes: AsyncStream<Attitude> { motionBroadcast.attitudes.subscribe() }
}
