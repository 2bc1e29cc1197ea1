/// A command from the host to its controller. Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.
struct HostCommand: Hashable, Sendable, CustomStringConvertible {
    /// The opcode, with the group in the upper six bits.
    var opcode: UInt16
    /// The bytes after the header.
    var parameters: [UInt8]

    init(opcode: UInt16, parameters: [UInt8]) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// Decodes a packet of the kernel after its kind byte; returns nil if it is truncated.
    init?(packet: some Collection<UInt8>) {
        let bytes = Array(packet)
        guard bytes.count >= 3, bytes.count == 3 + Int(bytes[2]) else { return nil }
        self.init(opcode: UInt16(bytes[0]) | UInt16(bytes[1]) << 8, parameters: Array(bytes[3...]))
    }

    /// Returns two bytes of the parameters in little-endian order; 0 beyond their end.
    func word(at index: Int) -> UInt16 { UInt16(byte(at: index)) | UInt16(byte(at: index + 1)) << 8 }

    /// Returns a byte of the parameters; 0 beyond their end.
    func byte(at index: Int) -> UInt8 { index < parameters.count ? parameters[index] : 0 }

    var description: String {
        String(opcode, radix: 16) + " " + parameters.map { String($0, radix: 16) }.joined(separator: ".")
    }
}

/// The commands that the virtual controller supports.
enum HostOpcode {
    static let setEventMask: UInt16 = 0x0C01
    static let reset: UInt16 = 0x0C03
    static let readStoredLinkKey: UInt16 = 0x0C0D
    static let writeLocalName: UInt16 = 0x0C13
    static let readLocalName: UInt16 = 0x0C14
    static let readClass: UInt16 = 0x0C23
    static let setEventMaskPage2: UInt16 = 0x0C63
    static let writeLEHostSupport: UInt16 = 0x0C6D
    static let readVersion: UInt16 = 0x1001
    static let readCommands: UInt16 = 0x1002
    static let readFeatures: UInt16 = 0x1003
    static let readExtendedFeatures: UInt16 = 0x1004
    static let readBufferSize: UInt16 = 0x1005
    static let readAddress: UInt16 = 0x1009
    static let setLEEventMask: UInt16 = 0x2001
    static let readLEBufferSize: UInt16 = 0x2002
    static let readLEFeatures: UInt16 = 0x2003
    static let setRandomAddress: UInt16 = 0x2005
    static let setAdvertisingParameters: UInt16 = 0x2006
    static let readAdvertisingPower: UInt16 = 0x2007
    static let setAdvertisingData: UInt16 = 0x2008
    static let setScanResponseData: UInt16 = 0x2009
    static let setAdvertisingEnable: UInt16 = 0x200A
    static let setScanParameters: UInt16 = 0x200B
    static let setScanEnable: UInt16 = 0x200C
    static let readAcceptListSize: UInt16 = 0x200F
    static let clearAcceptList: UInt16 = 0x2010
    static let addToAcceptList: UInt16 = 0x2011
    static let removeFromAcceptList: UInt16 = 0x2012
    static let random: UInt16 = 0x2018
    static let readStates: UInt16 = 0x201C
    static let clearResolvingList: UInt16 = 0x2029
    static let readResolvingListSize: UInt16 = 0x202A
    static let setResolution: UInt16 = 0x202D
    static let setResolvableTimeout: UInt16 = 0x202E
    static let setAdvertisingSetAddress: UInt16 = 0x2035
    static let setExtendedAdvertisingParameters: UInt16 = 0x2036
    static let setExtendedAdvertisingData: UInt16 = 0x2037
    static let setExtendedScanResponseData: UInt16 = 0x2038
    static let setExtendedAdvertisingEnable: UInt16 = 0x2039
    static let readAdvertisingDataLength: UInt16 = 0x203A
    static let readAdvertisingSets: UInt16 = 0x203B
    static let removeAdvertisingSet: UInt16 = 0x203C
    static let clearAdvertisingSets: UInt16 = 0x203D
    static let setExtendedScanParameters: UInt16 = 0x2041
    static let setExtendedScanEnable: UInt16 = 0x2042
    static let readTransmitPower: UInt16 = 0x204B

    /// The commands of Bluetooth 4 that must not be mixed with those of Bluetooth 5 until the next reset (3.1.1).
    static let legacy: Set<UInt16> = [
        setAdvertisingParameters, readAdvertisingPower, setAdvertisingData, setScanResponseData, setAdvertisingEnable,
        setScanParameters, setScanEnable,
    ]
    /// The commands of Bluetooth 5 that must not be mixed with those of Bluetooth 4.
    static let extended: Set<UInt16> = [
        setExtendedAdvertisingParameters, setExtendedAdvertisingData, setExtendedScanResponseData,
        setExtendedAdvertisingEnable, readAdvertisingDataLength, readAdvertisingSets, removeAdvertisingSet,
        clearAdvertisingSets, setExtendedScanParameters, setExtendedScanEnable,
    ]
    /// The commands without an observable effect, which the controller only acknowledges.
    static let acknowledged: Set<UInt16> = [
        setEventMask, writeLocalName, setEventMaskPage2, writeLEHostSupport, setAdvertisingParameters,
        setAdvertisingData, setScanResponseData, setAdvertisingEnable, clearAcceptList, addToAcceptList,
        removeFromAcceptList, clearResolvingList, setResolution, setResolvableTimeout, setAdvertisingSetAddress,
        setExtendedAdvertisingData, setExtendedScanResponseData, setExtendedAdvertisingEnable, removeAdvertisingSet,
        clearAdvertisingSets,
    ]
}
