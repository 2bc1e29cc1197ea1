/// What carries the device.
public enum MotionMode: String, Hashable, Sendable, CaseIterable {
    /// Somebody who walks, with the device in the hand or a pocket.
    case walking
    /// A shopping cart that somebody pushes.
    case shoppingCart
    /// A wheelchair.
    case wheelchair
    /// A robot that drives.
    case robot
}

extension MotionModel {
    /// Creates the model of what carries the device.
    ///
    /// | mode | steps | mean speed | keeps its way for | turns | starts | stops | wanders standing / moving |
    /// | --- | --- | --- | --- | --- | --- | --- | --- |
    /// | walking | felt | 1.4 m/s | 100 s | 0.1 /s | 0.4 /s | 0.03 /s | 0.15 / 0.3 m |
    /// | shoppingCart | – | 0.8 m/s | 3 s | – | 0.4 /s | 0.15 /s | 0.15 / 0.3 m |
    /// | wheelchair | – | 0.9 m/s | 5 s | – | 0.4 /s | 0.08 /s | 0.1 / 0.2 m |
    /// | robot | – | 0.6 m/s | 8 s | – | 0.5 /s | 0.05 /s | 0.03 / 0.1 m |
    ///
    /// A mean speed is 1.25 times `walkingSpeed`, as of a normal distribution in the plane. Nothing on wheels has steps: an
    /// accelerometer on it feels the floor's joints, and steps found in these, or none found, would both be wrong. Who
    /// pushes a cart walks slower, and stops and turns at the shelves; a wheelchair rolls steadily on; a robot keeps its
    /// way and stands still where it stands. The numbers of the wheels are chosen by these reasons, not measured.
    public init(_ mode: MotionMode) {
        self.init()
        guard mode != .walking else { return }
        usesSteps = false
        turnRate = 0
        switch mode {
        case .walking: break
        case .shoppingCart: (walkingSpeed, velocityTime, stopRate) = (0.65, 3, 0.15)
        case .wheelchair:
            (walkingSpeed, velocityTime, stopRate) = (0.75, 5, 0.08)
            (standingWander, walkingWander) = (0.1, 0.2)
        case .robot:
            (walkingSpeed, velocityTime, startRate, stopRate) = (0.5, 8, 0.5, 0.05)
            (standingWander, walkingWander) = (0.03, 0.1)
        }
    }
}
