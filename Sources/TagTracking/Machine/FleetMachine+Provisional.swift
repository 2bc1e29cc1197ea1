extension FleetMachine {
    public func snapshot() -> [UInt8] { [] }
}
